#!/usr/bin/env python3
"""Compares builds of the loader by memory, CPU time and rate, reading photos from a store on loopback.

    python3 bench/loader/store_memory.py --data DIR --programs NAME=PATH,NAME=PATH --out bench/results/store-memory.json

Each PATH is a `loader_bench` that was built with other limits (src/remote/store: the pool of buffers in announced.cc, kLeast in
ahead_memory.h). DIR and the store are those of bench/remote.py. Builds run in turn. Decision 0015 tells of the outcome.
"""
import argparse
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import remote  # noqa: E402
from harness import machine, remote_rows  # noqa: E402
from harness.entrants import ROOT, Setting  # noqa: E402
from harness.program import say, write  # noqa: E402

DATA, GB = 'photos', 1e9


class Build(remote_rows.Bench):
    """The store, read by one of the programs."""

    def __init__(self, setting: Setting, port: int, program: str):
        super().__init__(setting, port)
        self.program = program

    def run(self, words, port=None, **env):
        return super().run([self.program, *words[1:]], port, **env)

    def figures(self, order: str) -> dict:
        near = self.epochs(DATA, order, 2, local=True)[1]
        far = self.epochs(DATA, order, 2)[1]
        # Buffers of more than 64 KiB are mapped, and unmapped when they are freed.
        mapped = self.epochs(DATA, order, 2, MALLOC_MMAP_THRESHOLD_='65536')[1]
        with self.proxy(delay_ms=remote_rows.MS) as proxy:
            late = self.epochs(DATA, order, 2, proxy.port)[1]
        size = self.size(DATA)
        return {'memory_mb': far['peak_mb'] - near['peak_mb'], 'cpu_s_per_gb': far['cpu_seconds'] / size * GB,
                'memory_mb_if_mapped': mapped['peak_mb'] - near['peak_mb'],
                'cpu_s_per_gb_if_mapped': mapped['cpu_seconds'] / size * GB,
                'mb_per_s': size / far['seconds'] / 1e6, 'mb_per_s_at_100_ms': size / late['seconds'] / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--data', type=pathlib.Path, required=True)
    parser.add_argument('--programs', required=True, help='NAME=PATH, comma-separated')
    parser.add_argument('--work', type=pathlib.Path, default=ROOT / 'build/bench-work')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release')
    parser.add_argument('--venvs', type=pathlib.Path, default=ROOT / '.venvs')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--out', type=pathlib.Path)
    given = parser.parse_args()
    setting = Setting(given.data.resolve(), given.work.resolve(), given.build.resolve(), given.venvs.absolute(), given.rounds)
    programs = dict(each.split('=', 1) for each in given.programs.split(','))
    remote.prepare(setting)
    samples = {(name, order): [] for order in remote_rows.ORDERS for name in programs}
    with remote_rows.opened(setting) as port:
        for _ in range(given.rounds):
            for (name, order), found in samples.items():
                found.append(Build(setting, port, programs[name]).figures(order))
                say(json.dumps({'build': name, 'order': order, **found[-1]}))
    rows = [{'build': name, 'order': order,
             **{key: round(statistics.median(each[key] for each in found), 3) for key in found[0]}}
            for (name, order), found in samples.items()]
    write({'date': machine.today(), 'machine': machine.describe(setting.work), 'rounds': given.rounds,
           'terms': '1.07 GB, 10,240 photos of 100 KB, second epoch of a process; nginx on loopback; memory: resident at the peak, '
                    'beyond that of reading the same files; mapped: with MALLOC_MMAP_THRESHOLD_=65536', 'rows': rows}, given.out)


if __name__ == '__main__':
    main()
