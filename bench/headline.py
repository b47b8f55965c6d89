#!/usr/bin/env python3
"""Prints the README's first table: a few rows of bench/results/, each with the best of its peers.

    python3 bench/headline.py
"""
import pathlib

from harness.program import rows_of
from harness.table import cells, markdown

RESULTS = pathlib.Path(__file__).resolve().parent / 'results'
# Task of the user, file, and row; those where a peer is faster among them.
SHOWN = [('pack', 'records', 'pack-cifar'),
         ('pack', 'records', 'pack-files'),
         ('load', 'loader', 'cifar-u8'),
         ('load', 'loader', 'crop-sample-f32-antialias'),
         ('load', 'loader', 'crop-sample-u8-plain'),
         ('load in Python', 'python', 'python-cifar'),
         ('start', 'python', 'python-first'),
         ('read at random', 'python', 'python-batch'),
         ('read one column', 'records', 'labels'),
         ('train', 'train', 'step-f32')]


def table(results: pathlib.Path = RESULTS) -> str:
    lines = []
    for what, file, name in SHOWN:
        row = rows_of(results / f'{file}.json')[name]
        job, ours, peer = cells(row)[:3]
        lines.append([what, job, ours.split('; ')[0], peer,  # the first of ours is the one compared
                      'AVX-512' if row['machine']['avx512'] else 'AVX2'])
    return markdown(['', 'job', 'recpack', 'best peer (ours against it)', 'on'], lines)


if __name__ == '__main__':
    print(table())
