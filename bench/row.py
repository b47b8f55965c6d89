#!/usr/bin/env python3
"""Measures one row of docs/guide/performance.md from scratch, and prints the published one beside it.

    python3 bench/row.py --list                    the rows' names
    python3 bench/row.py pack-cifar                installs, builds, makes the data, measures
    python3 bench/row.py cifar-f32 --data DIR      with data that is there (bench/data.py, bench/README.md)

It installs what recpack needs and those peers alone that take part in the row. Everything it makes
lies in build/ and .venvs/.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import loader_rows, python_rows, records_rows, train_rows
from harness.entrants import ROOT, Setting
from harness.measure import Row
from harness.program import rows_of
from harness.table import HEADER, cells, markdown

FILES = {'records': records_rows, 'loader': loader_rows, 'python': python_rows, 'train': train_rows}


def all_rows() -> dict[str, tuple[str, Row]]:
    """Every row by its name, with the file of results that it is in."""
    nowhere = Setting(ROOT, ROOT, ROOT, ROOT)
    return {row.name: (file, row) for file, module in FILES.items() for row in module.all_rows(nowhere)}


def environments(file: str, row: Row) -> list[str]:
    """Returns the environments of the row's peers, and of those that make its data."""
    wanted = {getattr(entrant, 'environment', '') for entrant in row.entrants} - {''}
    if file != 'train':
        wanted |= {'tf', 'vision'}  # TensorFlow writes the shards that all read; Pillow is in the other
    if file == 'loader':
        wanted.add('ffcv')  # makes photos, by OpenCV
    return sorted(wanted)


def commands(file: str, row: Row, data: pathlib.Path, out: pathlib.Path) -> list[list[str]]:
    """All that is run, in turn."""
    steps = [['bash', 'tools/setup.sh', '--for', 'all'],
             ['cmake', '--preset', 'release', '-DRECPACK_BUILD_BENCH=ON'],
             ['cmake', '--build', 'build/release'],
             ['bash', 'bench/peers/setup.sh', *environments(file, row)]]
    if file == 'python':
        steps.append(['bash', 'tests/python/environments.sh'])
    if file != 'train' and not (data / 'cifar10-jpeg').is_dir():
        steps.append(['.venvs/vision/bin/python', 'bench/data.py', str(data)])
    more = [] if file == 'train' else ['--data', str(data)]
    return [*steps, [sys.executable, f'bench/{file}.py', *more, '--rows', row.name, '--out', str(out)]]


def compare(published: dict | None, measured: dict) -> str:
    lines = [['measured now', *cells(measured)]]
    if published:
        lines.append([f"published, {published['date'][:10]}", *cells(published)])
    return markdown(['', *HEADER], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('name', nargs='?')
    parser.add_argument('--data', type=pathlib.Path, default=ROOT / 'build' / 'bench-data')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--dry-run', action='store_true', help='print the commands, run none')
    options = parser.parse_args()
    rows = all_rows()
    if options.list:
        print('\n'.join(f'{name:<28} {row.title}' for name, (_, row) in rows.items()))
        return
    if options.name not in rows:
        parser.error(f'no row {options.name!r}; --list names all')
    file, row = rows[options.name]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'row.json'
        for words in commands(file, row, options.data, out):
            print('+', ' '.join(words), file=sys.stderr, flush=True)
            if not options.dry_run:
                subprocess.run(words, cwd=ROOT, check=True, env={k: v for k, v in os.environ.items()
                                                                if k != 'OPENBLAS_CORETYPE'})
        if not options.dry_run:
            published = rows_of(ROOT / 'bench' / 'results' / f'{file}.json').get(row.name)
            print(compare(published, rows_of(out)[row.name]))


if __name__ == '__main__':
    main()
