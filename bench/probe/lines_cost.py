#!/usr/bin/env python3
"""Measures what the sampling of lines costs a Python program: CPU time of the hook's thread in it.

    python3 bench/probe/lines_cost.py --out bench/results/probe-lines-cost.json

A program steps for some seconds, with so many threads of its own at so deep stacks, or with so many workers. It reports the
CPU time of each of its threads (/proc/self/task/TID/schedstat); the hook's events say which one samples.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'bench'), str(ROOT / 'tests/probe/hook')]
from harness import machine  # noqa: E402
from support import HERE, HOOK, events_of  # noqa: E402

PROGRAM = '''
import json, sys, threading, time
from torch.utils.data import DataLoader
from torch.optim import SGD
depth, threads, seconds, busy = map(float, sys.argv[1:])
def deep(left):
    if left > 0: return deep(left - 1)
    end = time.monotonic() + seconds + 2
    while time.monotonic() < end: time.sleep(0.01)
for _ in range(int(threads)): threading.Thread(target=deep, args=(depth,), daemon=True).start()
class Items:
    def __iter__(self):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if busy: sum(range(200_000))
            else: time.sleep(0.005)
            yield 1
def train(left):
    if left > 0: return train(left - 1)
    optimizer = SGD()
    for _ in DataLoader(Items()): optimizer.step()
begin = time.monotonic()
train(depth)
elapsed = time.monotonic() - begin
import os
times = {int(t): int(open(f'/proc/self/task/{t}/schedstat').read().split()[0]) / 1e9 for t in os.listdir('/proc/self/task')}
print(json.dumps([elapsed, times]))
'''


# Processes that run the loop of PyTorch's workers, of the fake in tests/probe/hook.
WORKERS = '''
import json, multiprocessing, os, sys, time
import torch.utils.data
from torch.utils.data._utils import worker
count, seconds = int(sys.argv[1]), float(sys.argv[2])
asked, told = multiprocessing.SimpleQueue(), multiprocessing.Queue()
class Item:
    def __getitem__(self, index):
        end = time.monotonic() + seconds
        while time.monotonic() < end: time.sleep(0.005)
        told.put({int(t): int(open(f'/proc/self/task/{t}/schedstat').read().split()[0]) / 1e9 for t in os.listdir('/proc/self/task')})
others = [None] * 9
processes = [multiprocessing.Process(target=worker._worker_loop, args=(Item(), asked, *others, count)) for _ in range(count)]
for process in processes: process.start()
for _ in processes: asked.put(0)
times = {}
for _ in processes: times.update(told.get())
for _ in processes: asked.put(None)
for process in processes: process.join()
print(json.dumps([seconds, times]))
'''


def sampled(program_text: str, *words) -> tuple[float, float]:
    """Seconds that a program ran under the hook, and CPU seconds of the threads that sampled it."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'program.py'
        program.write_text(program_text, encoding='utf-8')
        environment = {**os.environ, 'RECPACK_EVENTS': folder, 'PYTHONPATH': f"{HOOK}{os.pathsep}{HERE / 'libraries'}"}
        done = subprocess.run([sys.executable, program, *map(str, words)], capture_output=True, text=True, check=True, env=environment)
        elapsed, times = json.loads(done.stdout)
        events = [event for path in pathlib.Path(folder).glob('*.events') for event in events_of(path)]
    lanes = {event.lane for event in events if event.name.startswith('line\t')}
    return elapsed, sum(time for thread, time in times.items() if int(thread) in lanes)


def measure(depth: int, threads: int, seconds: float, busy: bool) -> dict:
    elapsed, cpu = sampled(PROGRAM, depth, threads, seconds, int(busy))
    return {'depth_of_stacks': depth, 'threads': threads, 'computing': busy, 'seconds': round(elapsed, 1),
            'cpu_seconds': round(cpu, 4), 'share_of_one_core': round(cpu / elapsed, 5)}


def measure_workers(count: int, seconds: float) -> dict:
    elapsed, cpu = sampled(WORKERS, count, seconds)
    return {'workers': count, 'seconds': round(elapsed, 1), 'cpu_seconds_of_all': round(cpu, 4), 'share_of_one_core': round(cpu / elapsed, 5)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=15)
    parser.add_argument('--out', type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for depth, threads, busy in (10, 0, False), (10, 0, True), (60, 0, False), (10, 8, False), (60, 40, False):
        rows.append(measure(depth, threads, options.seconds, busy))
        print(json.dumps(rows[-1]), flush=True)
    for count in 8, 64:
        rows.append(measure_workers(count, options.seconds))
        print(json.dumps(rows[-1]), flush=True)
    results = {'date': machine.today(), 'machine': machine.describe(ROOT), 'load': os.getloadavg()[0],
               'what': __doc__.strip().splitlines()[0], 'rows': rows}
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
