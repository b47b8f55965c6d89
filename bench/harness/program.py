"""Shared parts of the programs that measure: their command line, and the file of results."""
import argparse
import json
import os
import pathlib
import sys
import time
from typing import Callable

from harness import machine
from harness.entrants import ROOT, Setting
from harness.measure import Row, measure
from harness.table import table


def parse(about: str, arguments: list[str], reads_data: bool) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--data', type=pathlib.Path, default=None if reads_data else ROOT)
    parser.add_argument('--work', type=pathlib.Path, default=ROOT / 'build' / 'bench-work')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'release')
    parser.add_argument('--venvs', type=pathlib.Path, help='default: $RECPACK_VENVS, or .venvs',
                        default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    parser.add_argument('--out', type=pathlib.Path, help='where the results go (default: stdout)')
    parser.add_argument('--reps', type=int, default=5, help='rounds (default 5)')
    parser.add_argument('--quick', action='store_true', help='a single round, to try things out')
    parser.add_argument('--rows', help='only rows whose names begin so, e.g. pack-cifar,read; '
                                       'the others that OUT has stay')
    parser.add_argument('--table', type=pathlib.Path, help='print the table of these results')
    options = parser.parse_args(arguments)
    if not options.table and not options.data:
        parser.error('--data DIR is needed (or --table RESULTS)')
    return options


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def gigabytes_in(folder: pathlib.Path) -> float:
    """What the files in a folder take of the disk."""
    return sum(path.lstat().st_blocks for path in folder.rglob('*')) * 512 / 1e9


def rows_of(path: pathlib.Path | None) -> dict[str, dict]:
    """The rows that a file of results has, by name, each with the machine that it was measured on."""
    if path is None or not path.exists():
        return {}
    results = json.loads(path.read_text(encoding='utf-8'))
    return {row['name']: {'machine': results['machine'], **row} for row in results['rows']}


def kind_of(row: dict) -> str:
    """What of a machine decides the kernels that run on it, ours and the peers'."""
    return 'avx512' if row['machine']['avx512'] else 'avx2'


def keep_elsewhere(measured: dict[str, dict], row: dict) -> None:
    """Adds a row that was measured; a figure of another kind of machine stays beside it, as NAME@KIND."""
    before = measured.get(row['name'])
    if before and kind_of(before) != kind_of(row):
        name = f"{row['name']}@{kind_of(before)}"
        measured[name] = before | {'name': name}
    measured.pop(f"{row['name']}@{kind_of(row)}", None)
    measured[row['name']] = row


def in_order(measured: dict[str, dict], names: list[str]) -> list[dict]:
    """The rows of these names, each before its figures of other machines."""
    return [row for name in names for key, row in sorted(measured.items()) if key.partition('@')[0] == name]


def write(results: dict, out: pathlib.Path | None) -> None:
    """To the file, or to the standard output."""
    text = json.dumps(results, indent=1, ensure_ascii=False) + '\n'
    if out is None:
        sys.stdout.write(text)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding='utf-8')


def run(options: argparse.Namespace, prepare: Callable | None, all_rows: Callable) -> dict:
    """Measures row by row. What is measured already is kept in a file if it ends early; of rows
    that are not chosen, the file's stay."""
    setting = Setting(options.data.resolve(), options.work.resolve(), options.build.resolve(),
                      options.venvs.absolute(), 1 if options.quick else options.reps)
    if prepare:
        prepare(setting, say)
    chosen = tuple(options.rows.split(',')) if options.rows else ('',)
    recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
    results = {'date': machine.today(), 'reps': setting.reps,
               'machine': machine.describe(setting.work),
               'versions': {'recpack': machine.first_line(recpack, '--version')}, 'rows': []}
    rows = all_rows(setting)
    measured = rows_of(options.out) if options.rows else {}
    for row in rows:
        if not row.name.startswith(chosen):
            continue
        say(f'{row.name}: {row.title}')
        keep_elsewhere(measured, measure(row, setting, setting.reps, say) | {'machine': results['machine']})
        results['rows'] = in_order(measured, [r.name for r in rows])
        if options.out:
            write(results, options.out)
    return results


def main(about: str, prepare: Callable[[Setting, Callable], None] | None,
         all_rows: Callable[[Setting], list[Row]]) -> None:
    """`prepare` makes what the rows read of --data; None: they read nothing."""
    options = parse(about, sys.argv[1:], prepare is not None)
    if options.table:
        print(table(json.loads(options.table.read_text(encoding='utf-8'))))
        return
    began = time.monotonic()
    results = run(options, prepare, all_rows)
    if not options.out:
        write(results, None)
    say(f'{len(results["rows"])} rows in {time.monotonic() - began:.0f} s')
    say(f'{options.work} keeps {gigabytes_in(options.work):.1f} GB for the next run: remove it when there is none')

