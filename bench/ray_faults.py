#!/usr/bin/env python3
r"""Kills workers, nodes and the driver of packs on Ray, from and into a failing bucket, too, and compares the result.

    PYTHONPATH=build/python/site $RECPACK_VENVS/ray/bin/python bench/ray_faults.py \
        --faults 120 --seed N --out bench/results/ray-faults.json

A cluster of a head and two nodes on this machine. Job after job packs small files; faults, drawn from the seed, come while it
runs, and the same call is made again where the driver was killed, or says so. Every third job packs into a bucket, and every third
reads its files from one. The bucket answers every twentieth request with an error, drops it, or does what was asked and loses the
answer: those are counted apart. Takes about fifteen minutes.
"""
import os
import pathlib
import random
import subprocess
import sys
import time

from harness import fault_bench

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / 'tests/python'), str(ROOT / 'tests/cli')]
from object_server import Faults, ObjectServer  # noqa: E402

KINDS = ('worker killed', 'node killed', 'driver killed')
FILES, SHARDS, TASKS = 1500, 24, 4
BUCKET_SHARE = 0.05
MOST_WAIT = 300  # seconds for a call; longer is a hang
AGAIN = 'make the same call again'


class Nodes:
    """A head without CPUs, and two nodes that are replaced when they are killed."""

    def __init__(self):
        from ray.cluster_utils import Cluster
        self.cluster = Cluster(initialize_head=True, head_node_args={'num_cpus': 0, 'include_dashboard': False})
        self._nodes = [self.cluster.add_node(num_cpus=1) for _ in range(2)]

    def kill(self, number: int) -> None:
        self.cluster.remove_node(self._nodes[number], allow_graceful=False)
        self._nodes[number] = self.cluster.add_node(num_cpus=1)


def source_files(at: pathlib.Path, chance: random.Random) -> pathlib.Path:
    for number in range(FILES):
        path = at / 'ab'[number % 2] / f'{number:05}.bin'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(chance.randrange(1, 20_000)))
    return at


def pack_with_faults(command: list, nodes: Nodes, chance: random.Random, counts: dict, most: int) -> dict:
    """Makes the same call until it succeeds, with at most one fault a call."""
    from ray_cluster import kill_one, workers
    told = {'calls': 0, 'hangs': 0, 'errors_without_advice': 0, 'longest_call_seconds': 0.0}
    while True:
        told['calls'] += 1
        kind = chance.choice(KINDS) if sum(counts.values()) < most else None
        begun = time.monotonic()
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if kind is not None:
            killed = None
            while killed is None and driver.poll() is None:  # the driver takes seconds to start
                if kind == 'worker killed':
                    killed = kill_one('_pack_task', 0.5)
                elif any(workers('_pack_task')):
                    time.sleep(chance.uniform(0, 1.5))
                    killed = True
                    if kind == 'node killed':
                        nodes.kill(chance.randrange(2))
                    else:
                        driver.kill()
                else:
                    time.sleep(0.01)
            counts[kind] += killed is not None
        try:
            said = driver.communicate(timeout=MOST_WAIT)[1]
        except subprocess.TimeoutExpired:
            told['hangs'] += 1
            driver.kill()
            driver.communicate()
            continue
        told['longest_call_seconds'] = max(told['longest_call_seconds'], time.monotonic() - begun)
        if driver.returncode == 0:
            return told
        if driver.returncode > 0 and AGAIN not in said:
            told['errors_without_advice'] += 1
            print(f'  {said.strip()[-300:]}', flush=True)
            if told['errors_without_advice'] > 5:
                return told


def run(most: int, seed: int, work: pathlib.Path) -> dict:
    from ray_cluster import contents
    recpack = str(ROOT / 'build/release/tools/recpack/recpack')
    chance = random.Random(seed)
    source = source_files(work / 'files', chance)
    subprocess.run([recpack, 'pack', str(source), str(work / 'one'), '--shards', str(SHARDS), '--quiet', '--no-sync'], check=True)
    expected = contents(work / 'one')
    (work / 'store' / 'bucket').mkdir(parents=True)
    source.rename(work / 'store' / 'bucket' / 'files')
    source = work / 'store' / 'bucket' / 'files'
    server = ObjectServer(work / 'store', faults=Faults(BUCKET_SHARE, seed, ('500', '503', 'reset', 'cut')))
    os.environ.update(server.environment(), RECPACK_CACHE=str(work / 'cache'))  # for the nodes, which begin after this
    nodes = Nodes()
    counts, sums = dict.fromkeys(KINDS, 0), {'calls': 0, 'hangs': 0, 'errors_without_advice': 0}
    jobs, different, left, longest = 0, 0, 0, 0.0
    try:
        while sum(counts.values()) < most:
            out = work / 'store' / 'bucket' / f'job-{jobs}' if jobs % 3 == 1 else work / f'job-{jobs}'
            command = [sys.executable, '-m', 'recpack_io.ray', 'pack', 's3://bucket/files' if jobs % 3 == 2 else str(source),
                       f's3://bucket/job-{jobs}' if jobs % 3 == 1 else str(out),
                       '--address', nodes.cluster.address, '--shards', str(SHARDS), '--tasks', str(TASKS)]
            told = pack_with_faults(command, nodes, chance, counts, most)
            longest = max(longest, told.pop('longest_call_seconds'))
            for name, value in told.items():
                sums[name] += value
            different += not out.exists() or contents(out) != expected
            left += len(server.uploads)
            left += out.exists() and sum(path.suffix == '.tmp' or '.tmp-' in path.name for path in out.rglob('*'))
            jobs += 1
            print(f'job {jobs}: {counts}, bucket {server.faults.counts}, {sums}, {different} different, {left} left', flush=True)
    finally:
        nodes.cluster.shutdown()
        server.close()
    return {'faults': counts, 'bucket_faults': server.faults.counts, 'jobs': jobs, **sums,
            'longest_call_seconds': round(longest, 1), 'different': different, 'left_over': left}


if __name__ == '__main__':
    fault_bench.main(__doc__, 120, run, shards=SHARDS, tasks=TASKS)
