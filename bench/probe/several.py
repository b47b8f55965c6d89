#!/usr/bin/env python3
"""Benchmarks recprobe's ranking of causes on trainings with two and three planted causes.

    python3 bench/probe/several.py --cases 40 --seed N --out bench/results/probe-several.json
    python3 bench/probe/several.py --table bench/results/probe-several.json

The truth is measured: the program runs alternately as it is and with each cause alone cured.
recprobe does not know the case. Nothing else should run on the machine. Python programs need the
environments of bench/peers/setup.sh.
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
from planting import drawn_run, several  # noqa: E402
from planting.programs import Programs  # noqa: E402
from planting.trainings import Unavailable  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    drawn_run.add_arguments(parser, 40)
    parser.add_argument('--only', default='', help='part of the names of kinds to run')
    parser.add_argument('--note', default='', help='kept with the results, such as the host load')
    given = parser.parse_args()
    if not given.table:
        drawn_run.check(parser, given)
    return given


def run_all(given: argparse.Namespace, programs: Programs,
            kept_cases: drawn_run.DoneCases) -> tuple[list[dict], dict]:
    kinds = [kind for kind in several.KINDS if given.only in kind.name]
    done, unavailable = [], {}
    for number in range(given.cases):
        kind = kinds[number % len(kinds)]
        try:
            case = kept_cases.taken_over.get(number)
            if case is None:
                case = several.measure(programs, several.draw(kind, number, given.seed))
                kept_cases.keep(number, case)
        except Unavailable as reason:
            unavailable[kind.name] = f'unavailable: {reason}'
            print(f'{kind.name}: {unavailable[kind.name]}', file=sys.stderr)
            continue
        case['judged'] = several.judge(case)
        done.append(case)
        print(several.line(number, case), flush=True)
    return done, unavailable


def main() -> None:
    given = arguments()
    if given.table:
        print(several.table(kept.read(given.table)))
        return
    work = pathlib.Path(tempfile.mkdtemp(prefix='several-'))
    programs = Programs(given.build.resolve(), work, given.venvs)
    load_before = os.getloadavg()
    try:
        kept_cases = drawn_run.DoneCases(given)
        done, unavailable = run_all(given, programs, kept_cases)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'seed': given.seed,
                   'tuning_seeds': [drawn_run.TUNING_SEEDS.start, drawn_run.TUNING_SEEDS.stop - 1],
                   'load_average_before': load_before, 'load_average': os.getloadavg(),
                   'taken_over': len(kept_cases.taken_over), 'note': given.note,
                   'summary': several.summary(done),
                   'unavailable': unavailable, 'cases': done}
    finally:
        programs.close()
        shutil.rmtree(work, ignore_errors=True)
    print(several.table(results))
    print(json.dumps(results['summary'], indent=1))
    if given.out:
        kept.write(results, given.out)
        kept_cases.end()


if __name__ == '__main__':
    main()
