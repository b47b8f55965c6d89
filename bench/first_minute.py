#!/usr/bin/env python3
"""Measures a newcomer's first minutes: a fresh clone, nothing compiled before, no compiler cache.

    python3 bench/first_minute.py --out bench/results/first-minute.json       about 15 minutes on two cores

It clones the commit that is checked out, runs tools/demo.sh there, then builds everything that tools/test.sh
builds, and notes when the first shards, the demo and the tests were there. Packages have to be installed
(tools/setup.sh --for build,demo,test); their download, and oneDNN's, is not counted. The demo draws its data where
the official archive cannot be downloaded.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import threading
import time

from harness.entrants import ROOT
from harness.machine import describe, first_line, today
from harness.program import write

AIMS = {'first_shards_s': 180, 'demo_s': 420, 'tests_built_s': 720}


def environment(home: pathlib.Path) -> dict[str, str]:
    """A clean one: no CUDA, no caches, nothing of this machine's settings."""
    return {'PATH': '/usr/bin:/bin', 'HOME': str(home), 'CCACHE_DISABLE': '1', 'LANG': 'C.UTF-8'}


def run(words: list[str], clone: pathlib.Path, log) -> None:
    subprocess.run(words, cwd=clone, env=environment(clone.parent), stdout=log, stderr=log, check=True)


def wait_for(path: pathlib.Path, began: float, found: list[float], ended: threading.Event) -> None:
    """Notes when a file appears."""
    while not path.exists():
        if ended.wait(0.2):
            return
    found.append(time.monotonic() - began)


def measure(clone: pathlib.Path, log) -> dict:
    subprocess.run(['git', 'clone', '-q', str(ROOT), str(clone)], check=True)
    subprocess.run(['bash', 'tools/setup_onednn.sh'], cwd=clone, stdout=log, stderr=log, check=True)
    began = time.monotonic()
    shards: list[float] = []
    ended = threading.Event()
    watcher = threading.Thread(target=wait_for, args=(clone / 'demo-out/cifar10/manifest.json', began, shards, ended))
    watcher.start()
    try:
        run(['bash', 'tools/demo.sh', '--no-setup'], clone, log)
    finally:
        demo = time.monotonic() - began
        ended.set()
        watcher.join()
    began = time.monotonic()
    run(['cmake', '--preset', 'release', '-DRECPACK_BUILD_TESTS=ON'], clone, log)
    run(['cmake', '--build', 'build/release', '--parallel', str(len(os.sched_getaffinity(0)))], clone, log)
    return {'first_shards_s': round(shards[0], 1), 'demo_s': round(demo, 1),
            'tests_built_s': round(demo + time.monotonic() - began, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, help='where the result goes (default: stdout)')
    parser.add_argument('--log', type=pathlib.Path, default=pathlib.Path(os.devnull), help='what the programs say')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, options.log.open('w', encoding='utf-8') as log:
        figures = measure(pathlib.Path(folder) / 'recpack', log)
    commit = first_line('git', '-C', str(ROOT), 'rev-parse', '--short', 'HEAD')
    write({'date': today(), 'commit': commit, 'machine': describe(ROOT), 'aims': AIMS, **figures}, options.out)


if __name__ == '__main__':
    main()
