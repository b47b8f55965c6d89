"""What the programs that measure have in common: their command line, and the file of results."""
import argparse
import json
import pathlib
import sys
import time
from typing import Callable

from harness import machine
from harness.entrants import ROOT, Setting
from harness.measure import Row, measure
from harness.table import table


def parse(about: str, arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--data', type=pathlib.Path)
    parser.add_argument('--work', type=pathlib.Path, default=ROOT / 'build' / 'bench-work')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'release')
    parser.add_argument('--venvs', type=pathlib.Path, default=ROOT / '.venvs')
    parser.add_argument('--out', type=pathlib.Path, help='where the results go (default: stdout)')
    parser.add_argument('--reps', type=int, default=5, help='rounds (default 5)')
    parser.add_argument('--quick', action='store_true', help='a single round, to try things out')
    parser.add_argument('--rows', help='only rows whose names begin so, e.g. pack-cifar,read')
    parser.add_argument('--table', type=pathlib.Path, help='print the table of these results')
    options = parser.parse_args(arguments)
    if not options.table and not options.data:
        parser.error('--data DIR is needed (or --table RESULTS)')
    return options


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(options: argparse.Namespace, prepare: Callable, all_rows: Callable) -> dict:
    setting = Setting(options.data.resolve(), options.work.resolve(), options.build.resolve(),
                      options.venvs.absolute(), 1 if options.quick else options.reps)
    prepare(setting, say)
    chosen = tuple(options.rows.split(',')) if options.rows else ('',)
    rows = []
    for row in all_rows(setting):
        if row.name.startswith(chosen):
            say(f'{row.name}: {row.title}')
            rows.append(measure(row, setting, setting.reps, say))
    recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
    return {'date': machine.today(), 'reps': setting.reps,
            'machine': machine.describe(setting.work),
            'versions': {'recpack': machine.first_line(recpack, '--version')}, 'rows': rows}


def main(about: str, prepare: Callable[[Setting, Callable], None],
         all_rows: Callable[[Setting], list[Row]]) -> None:
    options = parse(about, sys.argv[1:])
    if options.table:
        print(table(json.loads(options.table.read_text(encoding='utf-8'))))
        return
    began = time.monotonic()
    results = run(options, prepare, all_rows)
    text = json.dumps(results, indent=1, ensure_ascii=False) + '\n'
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding='utf-8')
    else:
        sys.stdout.write(text)
    say(f'{len(results["rows"])} rows in {time.monotonic() - began:.0f} s')

