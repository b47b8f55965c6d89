#!/usr/bin/env python3
"""Verdicts of recprobe on trainings that suffer from one thing, which is known.

    python3 bench/probe/planted.py --build build/release --cases 200 --seed N --out bench/results/probe-planted.json
    python3 bench/probe/planted.py --table bench/results/probe-planted.json

Each case is drawn from the seed: what is planted, how strong, on which device, with how many ranks.
It runs once under `recprobe run` and, before and after, without what is planted in its input: the
share of step time that this spares is the truth. recprobe is told nothing of the case. Nothing else
should run.
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import machine  # noqa: E402

# Used while the rules were written: a judged run has another one.
TUNING_SEEDS = range(0, 1000)
LIMITS = (0.05, 0.2)
BANDS = ('not input-bound', 'moderately input-bound', 'highly input-bound')
SECONDS = 2.0  # of a run
TOLERANCE = 0.03  # of step time

# What is the bottleneck where input is, and where it is not.
INPUT = {'storage': 'storage', 'cold-cache': 'storage', 'decode': 'decode',
         'function': 'user function', 'batch-function': 'batch function',
         'slow-rank-input': 'user function', 'interference': 'processors taken by others'}
OTHER = {'slow-rank-compute': 'slow rank', 'hidden-wait': 'slow rank', 'host': 'host',
         'copies': 'copies to the device'}
# A place that is not input's is named from this share of step time on; below it the model may be.
NAMED_FROM = {'slow-rank-compute': 0.15, 'hidden-wait': 1.0, 'host': 0.3, 'copies': 0.15}
SEVERAL_RANKS = ('slow-rank-input', 'slow-rank-compute', 'hidden-wait')
# What computes: the devices are then simulated, as those of several ranks, and need no processor.
COMPUTING = ('decode', 'interference', 'host')
CAUSES = ('none', 'background', *INPUT, *OTHER)


@dataclasses.dataclass
class Case:
    cause: str
    strength: float
    device: str
    ranks: int
    step_ms: float
    seed: int
    burners: int = 0

    def steps(self) -> int:
        shares = self.strength if self.cause != 'interference' else 0.5
        return max(60, round(SECONDS * 1e3 * (1 - shares) / self.step_ms))


def draw(number: int, seed: int, decoding_ms: float) -> Case:
    """The causes take turns; all else is chance."""
    chance = random.Random(f'{seed} {number}')
    cause = CAUSES[number % len(CAUSES)]
    strength = 0 if cause in ('none', 'background') else round(chance.uniform(0.02, 0.8), 3)
    ranks = chance.choice((2, 3)) if cause in SEVERAL_RANKS else chance.choice((1, 1, 2))
    simulated = cause in COMPUTING or ranks > 1 or chance.random() < 0.6
    case = Case(cause, strength, 'sim' if simulated else 'cpu', ranks,
                round(chance.uniform(5, 12), 2), chance.getrandbits(31))
    if cause == 'decode':  # the input is what it is: steps are as short as that asks for
        case.step_ms = round(decoding_ms * ranks * (1 - strength), 3)
    if cause == 'interference':
        case.burners = chance.choice((2, 3, 4))
    return case


class Bench:
    def __init__(self, build: pathlib.Path, work: pathlib.Path):
        self.trainer = build / 'tests/bench/planted_trainer'
        self.recprobe = build / 'tools/recprobe/recprobe'
        self.work = work
        self.data = work / 'shards'
        photos = work / 'photos'
        subprocess.run([self.trainer, photos, '--photos', '300'], check=True)
        subprocess.run([build / 'tools/recpack/recpack', 'pack', photos, self.data, '--no-sync'],
                       check=True, stdout=subprocess.DEVNULL)

    def train(self, case: Case, *more: str, watched: bool = False) -> tuple[dict, dict | None]:
        """What the trainer said of itself, and the verdict."""
        out = self.work / 'out.json'
        cause = 'burn' if case.cause == 'interference' else case.cause
        command = [self.trainer, self.data, '--cause', cause, '--strength', case.strength,
                   '--device', case.device, '--ranks', case.ranks, '--step-ms', case.step_ms,
                   '--steps', case.steps(), '--seed', case.seed, '--out', out, *more]
        if watched:
            command = [self.recprobe, 'run', '--json', '--', *command]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f'exit code {done.returncode}')
        return json.loads(out.read_text()), json.loads(done.stdout) if watched else None

    def decoding_ms(self) -> float:
        """Of a batch, where nothing else takes time."""
        said, _ = self.train(Case('decode', 0, 'sim', 1, 0.1, 0))
        return 1e3 * said['step_seconds'] - 0.1

    def run(self, case: Case) -> dict:
        before, _ = self.train(case, '--perfect-input', '1')
        burners = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
                   for _ in range(case.burners)]
        try:
            planted, verdict = self.train(case, watched=True)
        finally:
            for burner in burners:
                burner.send_signal(signal.SIGKILL)
                burner.wait()
        after, _ = self.train(case, '--perfect-input', '1')
        truths = [1 - each['step_seconds'] / planted['step_seconds'] for each in (before, after)]
        return {**dataclasses.asdict(case), 'odd_rank': planted['odd_rank'],
                'truth': statistics.mean(truths), 'truths': truths, 'said': verdict}


def band(share: float) -> str:
    return BANDS[sum(share >= limit for limit in LIMITS)]


def right_band(truth: list[float], said: dict) -> bool:
    """Of a truth that two runs put on both sides of a limit, either is right."""
    if said['verdict'] != 'undecided':
        return said['verdict'] in {band(each) for each in (*truth, statistics.mean(truth))}
    share = said['input_share']
    return any(share['low'] <= limit <= share['high'] for limit in LIMITS)


def right_places(case: dict) -> set[str]:
    """The bottlenecks that are right."""
    cause, of_input = case['cause'], case['said']['verdict'] in BANDS[1:]
    if of_input and cause in INPUT:
        return {INPUT[cause]}
    # Where the verdict leaves it open, so is the place.
    maybe = {INPUT[cause]} if cause in INPUT and case['truth'] > 0.02 else set()
    if cause in OTHER:
        named = case['strength'] >= NAMED_FROM[cause]
        return {OTHER[cause]} if named else {OTHER[cause], 'model'}
    return maybe | {'model'}


def judge(case: dict) -> dict:
    said = case['said']
    share = said.get('input_share')
    if share is None:
        return {'band': False, 'place': False, 'error': None, 'covered': False}
    rank = said.get('rank')
    return {'band': right_band(case['truths'], said),
            'place': said['bottleneck'] in right_places(case) and
                     (rank is None or case['cause'] == 'hidden-wait' or case['ranks'] > 1 and
                      rank == case['odd_rank']),
            'error': share['value'] - case['truth'],
            'covered': share['low'] <= max(case['truths']) and share['high'] >= min(case['truths'])}


def summary(cases: list[dict]) -> dict:
    judged = [case['judged'] for case in cases]
    nothing = [c for c in cases if c['cause'] not in INPUT]
    errors = [abs(j['error']) for j in judged if j['error'] is not None]
    count = max(1, len(cases))
    return {
        'cases': len(cases),
        'right': sum(j['band'] and j['place'] for j in judged) / count,
        'right_band': sum(j['band'] for j in judged) / count,
        'called_input_bound_without_cause': sum(c['said']['verdict'] in BANDS[1:] for c in nothing),
        'largest_error': max(errors, default=None),
        'errors_within_3_points': sum(e <= TOLERANCE for e in errors) / count,
        'coverage': sum(j['covered'] for j in judged) / count,
    }


def confusion(cases: list[dict]) -> dict:
    """By cause: how often which verdict."""
    table = collections.defaultdict(collections.Counter)
    for case in cases:
        said = case['said']
        table[case['cause']][f"{said['verdict']}: {said['bottleneck']}"] += 1
    return {cause: dict(counts.most_common()) for cause, counts in table.items()}


def table(results: dict) -> str:
    total = results['summary']
    lines = ['| planted | cases | right | largest error, points | verdicts |', '|---|---|---|---|---|']
    for cause, verdicts in results['confusion'].items():
        cases = [case for case in results['cases'] if case['cause'] == cause]
        of_cause = summary(cases)
        said = ', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())
        error = of_cause['largest_error']
        lines.append(f"| {cause} | {len(cases)} | {of_cause['right']:.0%} | "
                     f"{'' if error is None else format(100 * error, '.1f')} | {said} |")
    lines += ['', f"{total['cases']} cases of seed {results['seed']}, {results['date']}: verdict and place "
              f"right in {total['right']:.1%}; called input-bound with nothing planted there: "
              f"{total['called_input_bound_without_cause']}; error of the share within 3 points in "
              f"{total['errors_within_3_points']:.1%}; interval holds the truth in "
              f"{total['coverage']:.1%}."]
    lines += [f'{cause}: {reason}' for cause, reason in results['unavailable'].items()]
    return '\n'.join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--cases', type=int, default=200)
    parser.add_argument('--seed', type=int)
    parser.add_argument('--only', help='these causes, with commas between')
    parser.add_argument('--tune', action='store_true', help='seeds below 1000: not a judged run')
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path, help='print these results, run nothing')
    given = parser.parse_args()
    if given.table:
        return given
    if given.seed is None:
        parser.error('--seed is missing: one that was never used, of 1000 or more')
    if (given.seed in TUNING_SEEDS) != given.tune:
        parser.error('seeds below 1000 are for tuning (--tune), and for nothing else')
    if given.tune and given.out:
        parser.error('what was tuned on is no result: --out is for judged runs')
    return given


def run_all(given: argparse.Namespace, bench: Bench) -> tuple[list[dict], dict]:
    only = given.only.split(',') if given.only else CAUSES
    decoding_ms = bench.decoding_ms()
    cases, unavailable = [], {}
    for number in range(given.cases):
        case = draw(number, given.seed, decoding_ms)
        if case.cause not in only or case.cause in unavailable:
            continue
        try:
            done = bench.run(case)
        except RuntimeError as error:
            unavailable[case.cause] = f'unavailable: {error}'
            print(f'{case.cause}: {unavailable[case.cause]}', file=sys.stderr)
            continue
        done['judged'] = judge(done)
        cases.append(done)
        said, judged = done['said'], done['judged']
        share = said.get('input_share', {})
        print(f"{number:3} {case.cause:18} {case.strength:.2f} {case.device} x{case.ranks} "
              f"truth {done['truth']:6.3f} said {share.get('value', -1):6.3f} "
              f"[{share.get('low', -1):.3f}, {share.get('high', -1):.3f}] "
              f"{said['verdict']}: {said['bottleneck']} {said.get('rank', '')} "
              f"{'' if judged['band'] else 'BAND '}{'' if judged['place'] else 'PLACE '}"
              f"{'' if judged['covered'] else 'interval'}", flush=True)
    return cases, unavailable


def main() -> None:
    given = arguments()
    if given.table:
        print(table(json.loads(given.table.read_text(encoding='utf-8'))))
        return
    work = pathlib.Path(tempfile.mkdtemp(prefix='planted-'))
    try:
        cases, unavailable = run_all(given, Bench(given.build.resolve(), work))
        results = {'date': machine.today(), 'machine': machine.describe(work), 'seed': given.seed,
                   'tuning_seeds': [TUNING_SEEDS.start, TUNING_SEEDS.stop - 1],
                   'load_average': os.getloadavg(), 'summary': summary(cases),
                   'confusion': confusion(cases), 'unavailable': unavailable, 'cases': cases}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(results['summary'], indent=1))
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
