"""Data sets, samplers and loaders of a program, and what it does with them."""
