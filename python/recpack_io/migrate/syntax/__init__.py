"""Syntax of programs: names, values and what code that makes a transform does."""
