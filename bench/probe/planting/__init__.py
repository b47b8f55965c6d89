"""What the bench of verdicts is made of: cases, programs that suffer from them, the truth, the judge."""
