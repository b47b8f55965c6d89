#!/usr/bin/env python3
"""Verdicts of recprobe on trainings that suffer from one thing, which is known.

    python3 bench/probe/planted.py --cases 200 --seed N --out bench/results/probe-planted.json
    python3 bench/probe/planted.py --table bench/results/probe-planted.json

Each case is drawn from the seed: what is planted, how strong, in which program, on which device,
with how many ranks. It runs under `recprobe run`, and with and without what is planted in turns:
the share of step time that this spares is the truth. recprobe is told nothing of the case. Nothing
else should run. Python's programs run where bench/peers/setup.sh has made their environments.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import machine  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from planting import cases, judge, table, truth  # noqa: E402
from planting.programs import Programs  # noqa: E402
from planting.trace_ml import TraceMl, compared  # noqa: E402
from planting.trainings import Unavailable  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Used while rules and estimates were written: a judged run has another one.
TUNING_SEEDS = range(0, 1000)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--venvs', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    parser.add_argument('--cases', type=int, default=200)
    parser.add_argument('--seed', type=int)
    parser.add_argument('--only', help='of these kinds, with commas between: part of their names')
    parser.add_argument('--tune', action='store_true', help='seeds below 1000: not a judged run')
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path, help='print these results, run nothing')
    parser.add_argument('--list', action='store_true', help='print what can be planted')
    given = parser.parse_args()
    if given.table or given.list:
        return given
    if given.seed is None:
        parser.error('--seed is missing: one that was never used, of 1000 or more')
    if (given.seed in TUNING_SEEDS) != given.tune:
        parser.error('seeds below 1000 are for tuning (--tune), and for nothing else')
    if given.tune and given.out:
        parser.error('what was tuned on is no result: --out is for judged runs')
    return given


def chosen(only: str | None) -> list[cases.Kind]:
    """The kinds take turns."""
    names = only.split(',') if only else ['']
    return [kind for kind in cases.KINDS if any(name in kind.name for name in names)]


def judged(done: list[dict]) -> None:
    """Each by what is known of all: how well runs of its kind repeat."""
    truths = truth.Truths(done)
    for case in done:
        case['judged'] = judge.judge(case, truths)


def run_all(given: argparse.Namespace, programs: Programs) -> tuple[list[dict], dict]:
    kinds = chosen(given.only)
    ready_ms = programs.ready_ms()
    print(f'a batch alone takes, ms: {ready_ms}', flush=True)
    done, unavailable = [], {}
    try:
        trace_ml = TraceMl(given.venvs / 'traceml')
    except Unavailable as reason:
        trace_ml, unavailable['TraceML'] = None, f'unavailable: {reason}'
    for number in range(given.cases):
        kind = kinds[number % len(kinds)]
        if kind.name in unavailable:
            continue
        case = cases.draw(kind, number, given.seed, ready_ms)
        try:
            done.append(truth.measure(programs, case))
        except Unavailable as reason:
            unavailable[kind.name] = f'unavailable: {reason}'
            print(f'{kind.name}: {unavailable[kind.name]}', file=sys.stderr)
            continue
        if trace_ml and kind.program == 'torch':
            done[-1]['traceml'] = trace_ml.says(case)
        judged(done)
        print(table.line(number, done[-1]), flush=True)
    return done, unavailable


def main() -> None:
    given = arguments()
    if given.list:
        print('\n'.join(kind.name for kind in cases.KINDS))
        return
    if given.table:
        print(table.table(json.loads(given.table.read_text(encoding='utf-8'))))
        return
    work = pathlib.Path(tempfile.mkdtemp(prefix='planted-'))
    programs = Programs(given.build.resolve(), work, given.venvs)
    try:
        done, unavailable = run_all(given, programs)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'seed': given.seed,
                   'tuning_seeds': [TUNING_SEEDS.start, TUNING_SEEDS.stop - 1],
                   'load_average': os.getloadavg(), 'summary': judge.summary(done),
                   'confusion': table.confusion(done), 'traceml': compared(done),
                   'unavailable': unavailable, 'cases': done}
    finally:
        programs.close()
        shutil.rmtree(work, ignore_errors=True)
    results['too_noisy'] = judge.too_noisy(results['summary'])
    print(table.table(results))
    print(json.dumps(results['summary'], indent=1))
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
