#!/usr/bin/env python3
"""Benchmarks the accuracy of the what-if table of `recprobe run`.

Predicts each change from a run without it, then makes the change and measures it.

    python3 bench/probe/what_if.py --photos FOLDER --cifar SHARDS --out bench/results/what-if.json

FOLDER holds images in a folder per class. The consumer is `recpack bench`, which only takes
batches. Runs alternate, round by round; results are medians.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from harness import machine  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]


def call(*words, env=None):
    done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True,
                          env=env)
    return done.stdout.splitlines()[-1]


class Bench:
    def __init__(self, options, work):
        self.recpack = options.build / 'tools/recpack/recpack'
        self.recprobe = options.build / 'tools/recprobe/recprobe'
        self.seconds = options.seconds
        self.env = {**os.environ, 'XDG_CACHE_HOME': str(work / 'cache')}

    def command(self, shards, recipe, threads, *flags):
        return (self.recpack, 'bench', shards, '--recipe', recipe, '--threads', threads,
                '--seconds', self.seconds, '--json', *flags)

    def measured(self, *run):
        return json.loads(call(*self.command(*run)))['samples_per_s']

    def predicted(self, *run):
        """Returns the predicted rates of the loader alone by change."""
        said = json.loads(call(self.recprobe, 'run', '--json', '--', *self.command(*run),
                               env=self.env))
        return {row['change']: row['loader_per_s'] for row in said['loader']['what_if']}

    def doctor(self, shards):
        done = subprocess.run([self.recprobe, 'doctor', '--fresh', '--json', '--data', shards],
                              capture_output=True, text=True, env=self.env)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr)

    def pack(self, source, out, *flags):
        call(self.recpack, 'pack', source, out, '--json', *flags)
        return out


def one(rows, prefix):
    found = [rate for change, rate in rows.items() if change.startswith(prefix)]
    return found[0] if found else None


def cases(bench, options, work):
    """Yields (name, the run to predict from, prefix of the change's name, the changed run)."""
    plain = bench.pack(options.photos, work / 'plain')
    small = bench.pack(options.photos, work / 'small', '--resize', '256')
    tiled = bench.pack(options.photos, work / 'tiled', '--jpeg', 'tile')
    photos = (plain, 'imagenet-train', 1)
    yield 'photographs: 1 thread to 2', photos, '2 threads', (plain, 'imagenet-train', 2)
    yield 'photographs: resized to 256', photos, '`recpack pack --resize', \
        (small, 'imagenet-train', 1)
    yield 'photographs: tiled', photos, '`recpack pack --jpeg tile`', (tiled, 'imagenet-train', 1)
    yield 'photographs: pictures in memory', photos, '`--cache pictures`', \
        (plain, 'imagenet-train', 1, '--cache', 'pictures:4GB')
    yield 'CIFAR-10: 1 thread to 2', (options.cifar, 'cifar10-train', 1), '2 threads', \
        (options.cifar, 'cifar10-train', 2)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--photos', type=pathlib.Path, required=True)
    parser.add_argument('--cifar', type=pathlib.Path, required=True)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'release')
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=4)
    options = parser.parse_args(arguments)
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        bench = Bench(options, work)
        all_cases = list(cases(bench, options, work))
        seen = {}
        for round_ in range(options.rounds):
            bench.doctor(work / 'plain')
            for name, run, change, changed in all_cases:
                # Predicts for each case, even from the same run, to stay close in time to its pair.
                rows = bench.predicted(*run)
                figures = seen.setdefault(name, {'before': [], 'predicted': [], 'measured': []})
                figures['before'].append(one(rows, 'as it is'))
                figures['predicted'].append(one(rows, change))
                figures['measured'].append(bench.measured(*changed))
                print(f'round {round_}: {name}: {one(rows, change)} predicted, '
                      f'{figures["measured"][-1]} measured', file=sys.stderr, flush=True)
    rows = []
    for name, figures in seen.items():
        if None in figures['predicted']:
            rows.append({'name': name, 'unavailable': 'the change was not proposed in each round'})
            continue
        middle = {what: statistics.median(values) for what, values in figures.items()}
        rows.append({'name': name, **{what: round(value) for what, value in middle.items()},
                     'error': round(middle['predicted'] / middle['measured'] - 1, 3),
                     'error_of_rounds': [round(p / m - 1, 3) for p, m in
                                         zip(figures['predicted'], figures['measured'])]})
    text = json.dumps({'date': machine.today(), 'machine': machine.describe(ROOT),
                       'load': os.getloadavg(), 'rounds': options.rounds, 'rows': rows},
                      indent=1) + '\n'
    if options.out:
        options.out.write_text(text, encoding='utf-8')
    print(text, end='')


if __name__ == '__main__':
    main(sys.argv[1:])
