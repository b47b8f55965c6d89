#!/usr/bin/env python3
"""Prints the table of docs/guide/papers/deepconn-study.md: the study's epochs beside those of a sweep.

    rectrain sweep REVIEWS --model deepconn --placements 'one;towers;alternate' ... --out bench/results/sweep-placements
    python3 bench/placements.py
"""
import json
import pathlib

from harness.table import markdown

RESULTS = pathlib.Path(__file__).resolve().parent / 'results' / 'sweep-placements' / 'sweep.json'
# Placement, and what the study reports: seconds an epoch, copies between GPUs in its profile and
# their share of the GPUs' time.
STUDY = {'one': ('one device', 20.455, None, None),
         'towers': ('a tower each', 22.500, 78_292, 0.2008),
         'alternate': ('alternating', 23.021, 94_774, 0.2453)}


def cells(seconds: float, first: float, copies: float | None, share: float | None,
          digits: int) -> list[str]:
    ratio = '' if seconds == first else f' ({seconds / first:.2f}×)'
    return [f'{seconds:.{digits}f} s{ratio}', '–' if copies is None else f'{copies:,.0f}',
            '–' if share is None else f'{100 * share:.1f} %']


def table(results: pathlib.Path = RESULTS) -> str:
    rows = {row['placement']: row for row in json.loads(results.read_text('utf-8'))['rows']}
    lines = []
    for name, (what, seconds, copies, share) in STUDY.items():
        epoch = rows[name]['step_seconds'] * rows[name]['epoch_steps']
        first = rows['one']['step_seconds'] * rows['one']['epoch_steps']
        lines.append([what, *cells(seconds, STUDY['one'][1], copies, share, 3),
                      *cells(epoch, first, rows[name]['copies'] * rows[name]['epoch_steps'],
                             rows[name]['copy_seconds'] / rows[name]['step_seconds'], 2),
                      'not yet run'])
    return markdown(['placement', 'the study: an epoch', 'copies', 'their share', 'here: an epoch',
                     'copies', 'their share', 'here, on GPUs'], lines)


if __name__ == '__main__':
    print(table())
