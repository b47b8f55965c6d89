"""Benchmark of verdicts: cases, programs with planted causes, measured truth and judgement."""
