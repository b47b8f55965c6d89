#!/usr/bin/env python3
r"""Kills, stops, cuts off and adds hosts of an elastic training, and holds the audit of each epoch to the data set.

    PYTHONPATH=build/python/site $RECPACK_VENVS/vision/bin/python bench/elastic_faults.py \
        --faults 100 --seed N --out bench/results/elastic-faults.json

Hosts are network namespaces of this machine, so it needs root. Job after job of examples/python/elastic_torch.py runs on one to
three of them; a fault, drawn from the seed, comes some steps after a checkpoint. Takes about half an hour, mostly waits.
"""
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from harness import fault_bench

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests/python'))
import hosts  # noqa: E402
from elastic_job import Agent, Job  # noqa: E402

EPOCHS, STEP_SECONDS = 3, 0.1
MOST_HOSTS = 3
LONG = 14  # seconds: longer than ranks and the rendezvous wait for a host
MOST_WAIT = 180  # seconds for a checkpoint, or for the end of a job; longer is a hang
KINDS = ('rank killed', 'host killed', 'rank stopped for a second', 'host stopped', 'network cut', 'host added')


class Faults:
    """What happens to the hosts of a job; counts by kind."""

    def __init__(self, chance: random.Random):
        self.counts = dict.fromkeys(KINDS, 0)
        self._chance, self._later = chance, []

    def total(self) -> int:
        return sum(self.counts.values())

    def next(self, job: Job) -> str:
        """Begins one; returns its kind."""
        running = job.running()
        kinds = [kind for kind in KINDS if kind != 'host added' or len(running) < MOST_HOSTS]
        if len(running) < 2:  # somebody must go on
            kinds = ['rank killed', 'rank stopped for a second', 'host added', 'host added']
        kind = self._chance.choice(kinds)
        self.counts[kind] += 1
        if kind == 'host added':
            job.add()
        else:
            self._suffer(kind, self._chance.choice(running))
        return kind

    def _suffer(self, kind: str, agent: Agent) -> None:
        if kind == 'host killed':
            agent.kill()
        elif kind == 'rank killed':
            for rank in agent.ranks():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)
        elif kind == 'network cut':
            agent.host.plug(False)
            self._after(LONG, lambda: agent.host.plug(True))
        else:
            stopped = agent.ranks() if kind.startswith('rank') else agent.host.processes()
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGSTOP)
            self._after(1 if kind.startswith('rank') else LONG, lambda: agent.host.signal(signal.SIGCONT))

    def _after(self, seconds: float, end) -> None:
        thread = threading.Timer(seconds, end)
        thread.start()
        self._later.append(thread)

    def end(self) -> None:
        for thread in self._later:
            thread.join()
        self._later = []


def reason(agent: Agent) -> str:
    """The last error that an agent printed; empty if it printed none."""
    lines = [line.strip() for line in agent.log().splitlines() if 'Error' in line]
    return lines[-1][:200] if lines else ''


def run_job(shards: pathlib.Path, folder: pathlib.Path, faults: Faults, most: int, chance: random.Random) -> dict:
    """One training through faults; what was wrong with it."""
    hangs, without_reason, lost, ends = 0, 0, 0, {}
    with hosts.Network() as network:
        job = Job(network, shards, folder, EPOCHS, STEP_SECONDS)
        for _ in range(2):
            job.add()
        begun, log = time.monotonic(), []
        job.wait_for_checkpoint()
        while not job.ended():
            if not job.running():
                lost += 1
                job.start_again()
            if faults.total() < most:
                time.sleep(chance.uniform(0, 1.5))
                if job.ended():
                    break
                if not job.running():
                    continue
                log.append(faults.next(job))
            then, since = job.saved(), time.monotonic()
            if not job.wait_for_checkpoint(then, MOST_WAIT):
                hangs += 1
                for agent in job.running():
                    print(f'hangs: {agent.log()[-2000:]}', flush=True)
                break
            log.append(f'{time.monotonic() - since:.1f} s')
        faults.end()
        deadline = time.monotonic() + MOST_WAIT
        while job.running() and time.monotonic() < deadline and not hangs:
            time.sleep(0.1)
        hangs += bool(job.running()) and not hangs
        for agent in job.agents:
            code = agent.process.poll()
            name = 'hung' if code is None else 'done' if code == 0 else 'killed' if code < 0 or code == 137 else 'error'
            ends[name] = ends.get(name, 0) + 1
            without_reason += name == 'error' and not reason(agent)
            if name == 'error':
                print(f'  agent {agent.number}: {reason(agent)}', flush=True)
    said = job.epochs()
    wrong = [line for _, line in said if not line.endswith('samples, each once: True')]
    return {'epochs_told': len(said), 'wrong': len(wrong), 'missing': EPOCHS - len({number for number, _ in said}), 'hangs': hangs,
            'lost_all_hosts': lost, 'without_reason': without_reason, 'ends': ends, 'seconds': time.monotonic() - begun, 'log': log}


def run(most: int, seed: int, work: pathlib.Path) -> dict:
    recpack = str(ROOT / 'build/release/tools/recpack/recpack')
    quiet = {'check': True, 'stdout': subprocess.DEVNULL}
    subprocess.run([recpack, 'stand-in', str(work / 'cifar'), '--rows', '300'], **quiet)
    subprocess.run([recpack, 'pack', str(work / 'cifar'), str(work / 'shards'), '--quiet', '--no-sync'], **quiet)
    chance = random.Random(seed)
    faults, totals, ends, jobs, longest = Faults(chance), {}, {}, 0, 0.0
    while faults.total() < most:
        folder = work / f'job-{jobs}'
        folder.mkdir()
        told = run_job(work / 'shards', folder, faults, most, chance)
        jobs += 1
        longest = max(longest, told['seconds'])
        for name in ('epochs_told', 'wrong', 'missing', 'hangs', 'lost_all_hosts', 'without_reason'):
            totals[name] = totals.get(name, 0) + told[name]
        for name, count in told['ends'].items():
            ends[name] = ends.get(name, 0) + count
        print(f"job {jobs}: {faults.total()} faults, {totals}, {told['ends']}, {told['seconds']:.0f} s: {', '.join(told['log'])}",
              flush=True)
    return {'faults': faults.counts, 'jobs': jobs, 'samples_an_epoch': 1200, 'epochs_told': totals['epochs_told'],
            'epochs_with_lost_or_doubled_samples': totals['wrong'], 'epochs_missing': totals['missing'], 'hangs': totals['hangs'],
            'jobs_that_lost_all_hosts': totals['lost_all_hosts'], 'agents': ends,
            'ends_without_reason': totals['without_reason'], 'longest_job_seconds': round(longest, 1)}


if __name__ == '__main__':
    fault_bench.main(__doc__, 100, run, why_not=hosts.available())
