#!/usr/bin/env python3
"""A training step of the ResNet beside PyTorch's, on two threads, in turns; medians over rounds.

    bench/train.py --torch PYTHON [--rounds N] [--out FILE]
    bench/train.py --table FILE

PYTHON is that of an environment with torch and safetensors. As a yardstick stands beside them what
PyTorch's product of two square matrices would make of a step's convolutions, on as many threads; it
is no ceiling: convolutions of oneDNN can be faster.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'bench'))
from harness import machine  # noqa: E402

STEP = ROOT / 'build/release/bench/train/step_bench'
PEER = ROOT / 'bench/peers/peer_torch_resnet.py'
OURS = {
    'f32': {'recpack, NHWC, fused': [], 'recpack, NHWC, unfused': ['--unfused'],
            'recpack, NCHW, fused': ['--layout', 'nchw']},
    'bf16': {'recpack, NHWC, fused': ['--type', 'bf16'],
             'recpack, NHWC, unfused': ['--type', 'bf16', '--unfused'],
             'recpack, NCHW, fused': ['--type', 'bf16', '--layout', 'nchw']},
}
PEERS = {'f32': ['f32', 'f32-channels-last'],
         'bf16': ['bf16-autocast-channels-last', 'bf16-channels-last']}
PRODUCT = '''
import sys, time, torch
kind = getattr(torch, sys.argv[1]); torch.set_num_threads(int(sys.argv[2]))
a = torch.randn(2048, 2048).to(kind); b = torch.randn(2048, 2048).to(kind)
best = 1e9
for _ in range(12):
    begin = time.perf_counter(); a @ b; best = min(best, time.perf_counter() - begin)
print(2 * 2048 ** 3 / best)
'''
# Multiplications and additions of the convolutions of a step, per picture: forward, and twice back.
FLOP = 3 * 2 * (3 * 16 * 9 * 1024 + 4 * 16 * 16 * 9 * 1024 + (16 * 32 + 3 * 32 * 32) * 9 * 256
                + 16 * 32 * 256 + (32 * 64 + 3 * 64 * 64) * 9 * 64 + 32 * 64 * 64
                + (64 * 128 + 3 * 128 * 128) * 9 * 16 + 64 * 128 * 16)


def rate(command: list) -> float:
    environment = {k: v for k, v in os.environ.items() if k != 'OPENBLAS_CORETYPE'}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True,
                          env=environment)
    return json.loads(done.stdout)['samples_per_s']


def measure(python: str, threads: int, rounds: int) -> dict:
    rows = {}
    for kind in OURS:
        found = {name: [] for name in OURS[kind]} | {f'PyTorch, {form}': [] for form in PEERS[kind]}
        product = []
        for turn in range(rounds):
            for name, flags in OURS[kind].items():
                found[name].append(rate([STEP, '--steps', 15, '--threads', threads, *flags]))
            for form in PEERS[kind]:
                found[f'PyTorch, {form}'].append(
                    rate([python, PEER, form, '--threads', threads]))
            done = subprocess.run(
                [python, '-c', PRODUCT, 'float32' if kind == 'f32' else 'bfloat16', str(threads)],
                capture_output=True, text=True, check=True)
            product.append(float(done.stdout) / FLOP)
            print(f'{kind}: round {turn + 1} of {rounds}', file=sys.stderr)
        rows[kind] = {'samples_per_s': {name: round(statistics.median(values), 1)
                                        for name, values in found.items()},
                      'all': {name: [round(v, 1) for v in values] for name, values in found.items()},
                      'product': round(statistics.median(product), 1)}
    return rows


def table(results: dict) -> str:
    lines = ['| training step, ResNet 16–128, batch 128, 2 threads | images/s | against PyTorch\'s best | against a matrix product |',
             '| --- | --- | --- | --- |']
    for kind, row in results['rows'].items():
        best = max(v for k, v in row['samples_per_s'].items() if k.startswith('PyTorch'))
        for name, value in row['samples_per_s'].items():
            lines.append(f'| {kind}: {name} | {value:,.0f} | {value / best:.2f}× '
                         f'| {value / row["product"]:.2f} |')
    made = results['machine']
    lines += ['', f'{results["date"]}, {made["cpu"]}, {made["cores"]} cores, {made["system"]}; '
              f'medians of {results["rounds"]} rounds. The last column: against PyTorch\'s product of square matrices with as many operations.']
    return '\n'.join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('--torch')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path)
    flags = parser.parse_args()
    if flags.table:
        print(table(json.loads(flags.table.read_text(encoding='utf-8'))))
        return
    results = {'date': str(datetime.date.today()), 'machine': machine.describe(ROOT),
               'rounds': flags.rounds, 'threads': flags.threads,
               'rows': measure(flags.torch, flags.threads, flags.rounds)}
    print(table(results))
    if flags.out:
        flags.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
