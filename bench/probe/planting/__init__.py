"""The bench of verdicts: cases, programs that suffer from them, the truth, the judge."""
