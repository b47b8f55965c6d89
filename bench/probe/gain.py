#!/usr/bin/env python3
"""Benchmarks the accuracy of recprobe gain on trainings whose input has a known cause of slowness.

    python3 bench/probe/gain.py --cases 20 --seed N --out bench/results/probe-gain.json

Each case is drawn from the seed: the cause, its strength, the step time. The truth comes from runs
with and without the cause, before and after recprobe gain measures it within one run. Nothing else
should run on the machine.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import machine, results as kept  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from planting.cases import Case  # noqa: E402
from planting.programs import Programs  # noqa: E402
from planting.trainings import run as output_of  # noqa: E402

CAUSES = ('none', 'function', 'storage', 'background', 'decode')
BATCH = 8  # of planted_trainer
ENDLESS = 10_000_000
OTHER_RUNS = 0.02  # of the live rate
# Enough for long epochs: gain leaves out the ends of epochs and the incomplete batches there; a
# separate run does not.
PHOTOS = 6000


def draw(number: int, seed: int, decoding_ms: float) -> Case:
    """Draws a case. Causes take turns; all else is random."""
    chance = random.Random(f'{seed} {number}')
    cause = CAUSES[number % len(CAUSES)]
    strength = 0 if cause in ('none', 'background') else round(chance.uniform(0.02, 0.7), 3)
    ranks = chance.choice((1, 1, 2))
    step_ms = round(chance.uniform(5, 12), 2)
    if cause == 'decode':  # the input's speed is given: the step time follows from it
        step_ms = round(decoding_ms * ranks * (1 - strength), 3)
    return Case(f'trainer: {cause}', strength, 'sim', ranks, step_ms, chance.getrandbits(31))


def rate(programs: Programs, case: Case) -> float:
    return BATCH * case.ranks / programs.time(case)


def measure(programs: Programs, case: Case, seconds: float) -> dict:
    endless = dataclasses.replace(case, fixed_steps=ENDLESS)
    return json.loads(output_of(
        [programs.build / 'tools/recprobe/recprobe', 'gain', '--json', '--seconds', seconds,
         '--precision', 1, '--', *programs.of(case).command(endless)]).splitlines()[-1])


def run(programs: Programs, case: Case, seconds: float) -> dict:
    truths, lives = [], []

    def truth() -> None:
        lives.append(rate(programs, case))
        truths.append(rate(programs, case.without()) - lives[-1])

    truth()
    said = measure(programs, case, seconds)
    truth()
    live = statistics.mean(lives)
    return {**dataclasses.asdict(case), 'live_samples_per_s': live, 'truths': truths, 'said': said,
            'error': (said['gain']['value'] - statistics.mean(truths)) / live}


def covered(case: dict, more: float = 0) -> bool:
    """Tells whether the interval overlaps the gains of the runs around it. `more`: widens the
    interval by this share of the live rate."""
    gain, more = case['said']['gain'], more * case['live_samples_per_s']
    return gain['low'] - more <= max(case['truths']) and gain['high'] + more >= min(case['truths'])


def summary(cases: list[dict]) -> dict:
    errors = [abs(case['error']) for case in cases]
    return {'cases': len(cases), 'coverage': sum(map(covered, cases)) / len(cases),
            # The interval covers random variation within a run; the truth is from other runs.
            'coverage_with_2_percent_of_live_rate':
                sum(covered(case, OTHER_RUNS) for case in cases) / len(cases),
            'median_error_of_live_rate': statistics.median(errors),
            'largest_error_of_live_rate': max(errors)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--cases', type=int, default=20)
    parser.add_argument('--seed', type=int, required=True)
    parser.add_argument('--seconds', type=float, default=30, help='limit of each measurement')
    parser.add_argument('--out', type=pathlib.Path)
    given = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix='gain-'))
    try:
        programs = Programs(given.build.resolve(), work, pathlib.Path(), PHOTOS)
        decoding_ms = programs.ready_ms()['decode']
        cases = []
        for number in range(given.cases):
            case = draw(number, given.seed, decoding_ms)
            cases.append(run(programs, case, given.seconds))
            done = cases[-1]
            gain = done['said']['gain']
            print(f"{number:3} {case.of.cause:11} {case.strength:.2f} x{case.ranks} live "
                  f"{done['live_samples_per_s']:8.1f} truth {statistics.mean(done['truths']):8.1f} "
                  f"said {gain['value']:8.1f} [{gain['low']:.1f}, {gain['high']:.1f}] "
                  f"{done['said']['rounds']} rounds {'' if covered(done) else 'interval'}",
                  flush=True)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'seed': given.seed,
                   'load_average': os.getloadavg(), 'summary': summary(cases), 'cases': cases}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(results['summary'], indent=1))
    if given.out:
        kept.write(results, given.out)


if __name__ == '__main__':
    main()
