#!/usr/bin/env python3
"""Measures the accuracy after three epochs of CIFAR-10: rectrain on one device and on two, synchronous and not, with
integers in evaluation, and PyTorch with the same network, recipe and schedule. Accuracies alone: other
programs may run meanwhile.

    bash bench/peers/setup.sh vision                            PyTorch's environment, once
    cmake --preset release && cmake --build build/release
    python3 bench/accuracy.py --data DIR --out bench/results/cifar10-accuracy.json    about 20 minutes
    python3 bench/accuracy.py --table bench/results/cifar10-accuracy.json             for the README

DIR as for bench/records.py. Each training is run once for each seed; what fails is recorded with its
reason. Where FILE has results of the same network, only what is not in it is run: `--seeds 3` adds two
seeds to one.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from harness import machine
from harness.entrants import ROOT

EPOCHS = 3
# Two devices take half of a batch each, so that all make the same number of steps.
OURS = {
    'f32': [],
    'bf16': ['--dtype', 'bf16'],
    'two devices': ['--devices', 'cpu:0,cpu:1', '--batch-size', '64'],
    'two devices, parameter server': ['--devices', 'cpu:0,cpu:1', '--batch-size', '64',
                                      '--strategy', 'parameter_server'],
    'two devices, async': ['--devices', 'cpu:0,cpu:1', '--batch-size', '64',
                           '--strategy', 'parameter_server', '--async'],
}
TORCH = ('f32', 'bf16')
NETWORK = 'resnet, width 16'


def lines_of(command: list[str]) -> list[dict]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1:] or f'exit {done.returncode}')
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


def training(name: str, seed: int, run) -> dict:
    result = {'name': name, 'seed': seed}
    try:
        result.update(run())
    except (RuntimeError, OSError) as error:
        result['unavailable'] = str(error)
    print(json.dumps(result), file=sys.stderr, flush=True)
    return result


def before(out: pathlib.Path) -> list[dict]:
    """Trainings that were done."""
    if not out.exists():
        return []
    results = json.loads(out.read_text(encoding='utf-8'))
    if results['network'] != NETWORK:
        raise SystemExit(f'{out} is of {results["network"]}: name another file')
    return [row for row in results['trainings'] if 'unavailable' not in row]


def line(name: str, rows: list[dict], figure) -> list[str]:
    missing = [row['unavailable'] for row in rows if 'unavailable' in row]
    if missing:
        return [f'| {name} | unavailable: {missing[0]} |']
    values = sorted(figure(row) for row in rows)
    spread = f' ({values[0]:.2%} to {values[-1]:.2%})' if len(values) > 1 else ''
    return [f'| {name} | {statistics.mean(values):.2%}{spread} |']


def table(results: dict) -> str:
    """Returns a table with each training's mean over its seeds, lowest and highest."""
    lines = ['| three epochs of CIFAR-10 | accuracy |', '| --- | --- |']
    for name in dict.fromkeys(row['name'] for row in results['trainings']):
        rows = [row for row in results['trainings'] if row['name'] == name]
        shown = name if name.startswith('torch') else f'rectrain, {name}'
        lines += line(shown, rows, lambda row: row['epochs'][-1])
        if all('int8' in row for row in rows):
            lines += line('its evaluation with integers', rows,
                          lambda row: row['int8']['int8']['accuracy'])
    return '\n'.join(lines)


class Bench:
    def __init__(self, options, work: pathlib.Path):
        self.options, self.work = options, work
        self.rectrain = str(options.build / 'tools' / 'rectrain' / 'rectrain')
        recpack = str(options.build / 'tools' / 'recpack' / 'recpack')
        subprocess.run([recpack, 'pack', str(options.data / 'cifar-10-batches-py'), str(work / 'shards'),
                        '--splits', 'train,test'], check=True, stdout=subprocess.DEVNULL)

    def ours(self, name: str, seed: int) -> dict:
        folder = str(self.work / f'{name} {seed}')
        command = [self.rectrain, 'train', str(self.work / 'shards'), '--epochs', str(EPOCHS),
                   '--seed', str(seed), '--checkpoints', folder, '--json', *OURS[name]]
        epochs = lines_of(command)[0]['epochs']
        result = {'epochs': [epoch['evaluation']['accuracy'] for epoch in epochs]}
        if name == 'f32':
            result['int8'] = lines_of([self.rectrain, 'eval', str(self.work / 'shards'),
                                       '--checkpoint', folder, '--int8', '--json'])[0]
            result['int8'].pop('checkpoint', None)
        return result

    def torch(self, kind: str, seed: int) -> dict:
        python = self.options.venvs / 'vision' / 'bin' / 'python'
        command = [str(python), str(ROOT / 'bench' / 'train' / 'torch_accuracy.py'),
                   str(self.options.data), '--epochs', str(EPOCHS), '--dtype', kind, '--seed', str(seed)]
        return {'epochs': [line['accuracy'] for line in lines_of(command)]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--data', type=pathlib.Path)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'release')
    parser.add_argument('--venvs', type=pathlib.Path, default=ROOT / '.venvs')
    parser.add_argument('--seeds', type=int, default=1, help='0 to N-1 (default: one)')
    parser.add_argument('--only', help="those of these names, as 'f32;torch, f32'")
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path, help='print the table of these results')
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.table.read_text(encoding='utf-8'))))
        return
    if not (options.data and options.out):
        parser.error('--data DIR and --out FILE are needed (or --table RESULTS)')
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, pathlib.Path(work))
        results = {'date': machine.today(), 'machine': machine.describe(pathlib.Path(work)),
                   'data': 'CIFAR-10: 50,000 pictures to train on, 10,000 to evaluate on',
                   'network': NETWORK, 'trainings': before(options.out)}
        there = {(row['name'], row['seed']) for row in results['trainings']}
        for seed in range(options.seeds):
            rows = [(name, lambda n=name, s=seed: bench.ours(n, s)) for name in OURS]
            rows += [(f'torch, {kind}', lambda k=kind, s=seed: bench.torch(k, s)) for kind in TORCH]
            for name, run in rows:
                if (name, seed) in there or options.only and name not in options.only.split(';'):
                    continue
                results['trainings'].append(training(name, seed, run))
                options.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
