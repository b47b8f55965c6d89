#!/usr/bin/env python3
"""Benchmarks recprobe's verdicts on trainings with a known cause of slowness.

    python3 bench/probe/planted.py --cases 200 --seed N --out bench/results/probe-planted.json
    python3 bench/probe/planted.py --table bench/results/probe-planted.json

Each case is drawn from the seed: the cause, its strength, the program, the device, the number of
ranks. It runs under `recprobe run`, and alternately with and without the cause: the share of step
time that removing it saves is the truth. recprobe does not know the case. Nothing else should run
on the machine. Python programs need the environments of bench/peers/setup.sh.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import machine, results as kept  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from planting import cases, drawn_run, judge, table, truth  # noqa: E402
from planting.programs import Programs  # noqa: E402
from planting.trace_ml import TraceMl, compared  # noqa: E402
from planting.trainings import Unavailable  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    drawn_run.add_arguments(parser, 200)
    parser.add_argument('--only', help='kinds to run: comma-separated parts of their names')
    parser.add_argument('--list', action='store_true', help='list the kinds of cases')
    given = parser.parse_args()
    if not given.table and not given.list:
        drawn_run.check(parser, given)
    return given


def chosen(only: str | None) -> list[cases.Kind]:
    """Returns the kinds that match --only."""
    names = only.split(',') if only else ['']
    return [kind for kind in cases.KINDS if any(name in kind.name for name in names)]


def judged(done: list[dict]) -> None:
    """Judges all cases. How well runs of a kind repeat is estimated from all its cases."""
    truths = truth.Truths(done)
    for case in done:
        case['judged'] = judge.judge(case, truths)


def run_all(given: argparse.Namespace, programs: Programs,
            kept_cases: drawn_run.DoneCases) -> tuple[list[dict], dict]:
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
        if number in kept_cases.taken_over:
            done.append(kept_cases.taken_over[number])
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
        kept_cases.keep(number, done[-1])
        judged(done)
        print(table.line(number, done[-1]), flush=True)
    judged(done)
    return done, unavailable


def main() -> None:
    given = arguments()
    if given.list:
        print('\n'.join(kind.name for kind in cases.KINDS))
        return
    if given.table:
        print(table.table(kept.read(given.table)))
        return
    work = pathlib.Path(tempfile.mkdtemp(prefix='planted-'))
    programs = Programs(given.build.resolve(), work, given.venvs)
    try:
        kept_cases = drawn_run.DoneCases(given)
        done, unavailable = run_all(given, programs, kept_cases)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'seed': given.seed,
                   'tuning_seeds': [drawn_run.TUNING_SEEDS.start, drawn_run.TUNING_SEEDS.stop - 1],
                   'taken_over': len(kept_cases.taken_over), 'load_average': os.getloadavg(),
                   'summary': judge.summary(done),
                   'confusion': table.confusion(done), 'traceml': compared(done),
                   'unavailable': unavailable, 'cases': done}
    finally:
        programs.close()
        shutil.rmtree(work, ignore_errors=True)
    results['too_noisy'] = judge.too_noisy(results['summary'])
    print(table.table(results))
    print(json.dumps(results['summary'], indent=1))
    if given.out:
        kept.write(results, given.out)
        kept_cases.end()


if __name__ == '__main__':
    main()
