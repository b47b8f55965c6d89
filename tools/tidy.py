#!/usr/bin/env python3
"""Runs clang-tidy on the sources of src, tools and kernels that changed since it last passed on them.

    python3 tools/tidy.py [--seconds N] [PRESET]       PRESET: a configured build by clang (default: tidy)

What passed is remembered in ~/.cache/recpack/tidy (or $RECPACK_TIDY_CACHE) by the contents of the
source, of every header of the project that it includes, of .clang-tidy, and by the command that compiles it, so
that what was found once is never passed over. PRESET needs no build, only a command for each source: no unity build.

--seconds: begins no further source after N seconds; those that changed last in git come first, and what
was left out is named. The last line is `N passed, N failed`; exits 1 if something was found.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('src', 'tools', 'kernels')

sys.path.insert(0, str(ROOT / 'tests' / 'house'))
import check_layers  # noqa: E402


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def included(path: str, known: dict[str, list[str]]) -> list[str]:
    """The project's headers that a file names."""
    if path not in known:
        lines = pathlib.Path(path).read_text(encoding='utf-8').splitlines()
        names = [found[2] for found in map(check_layers.INCLUDE.match, lines) if found and found[1] == '"']
        targets = [check_layers.own_target(ROOT, os.path.relpath(path, ROOT), name) for name in names]
        known[path] = [str(ROOT / target) for target in targets if target]
    return known[path]


def with_headers(source: str, known: dict[str, list[str]]) -> set[str]:
    """A source and all of the project's headers that it is made from."""
    files, waiting = {source}, [source]
    while waiting:
        more = set(included(waiting.pop(), known)) - files
        files |= more
        waiting += more
    return files


class Digests:
    """Digests of files' contents, each read once."""

    def __init__(self):
        self.known: dict[str, bytes] = {}

    def of(self, path: str) -> bytes:
        if path not in self.known:
            self.known[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).digest()
        return self.known[path]


def key_of(command: str, files: set[str], digests: Digests, checks: bytes) -> str:
    whole = hashlib.sha256(checks + command.replace(str(ROOT), '').encode())
    for path in sorted(files):
        whole.update(digests.of(path))
    return whole.hexdigest()


def last_changes() -> dict[str, int]:
    """When a commit last touched each file, by its path in the repository; 0 is the latest."""
    changes: dict[str, int] = {}
    for line in output_of('git', 'log', '--format=', '--name-only').splitlines():
        if line:
            changes.setdefault(line, len(changes))
    return changes


def wanted_sources(build: pathlib.Path) -> list[tuple[str, str]]:
    """(source, key) of all, those that changed last first."""
    digests, changes = Digests(), last_changes()
    known: dict[str, list[str]] = {}
    checks = (ROOT / '.clang-tidy').read_bytes() + output_of('clang-tidy', '--version').encode()
    wanted = []
    for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
        source = os.path.relpath(entry['file'], ROOT)
        if source.split('/')[0] not in FOLDERS or not source.endswith('.cc'):
            continue
        key = key_of(entry['command'], with_headers(entry['file'], known), digests, checks)
        wanted.append((changes.get(source, 0), source, key))
    return [(source, key) for _, source, key in sorted(wanted)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('preset', nargs='?', default='tidy')
    parser.add_argument('--seconds', type=float, default=float('inf'))
    options = parser.parse_args()
    build = ROOT / 'build' / options.preset
    passed_before = pathlib.Path(os.environ.get('RECPACK_TIDY_CACHE') or
                                 pathlib.Path.home() / '.cache' / 'recpack' / 'tidy')
    passed_before.mkdir(parents=True, exist_ok=True)
    sources = wanted_sources(build)
    wanted = [(source, key) for source, key in sources if not (passed_before / key).exists()]
    print(f'{len(sources) - len(wanted)} of {len(sources)} sources are as they were when they passed')
    until = time.monotonic() + options.seconds
    left_out, failures, passed = [], [], len(sources) - len(wanted)

    def examine(item: tuple[str, str]) -> tuple[str, str, subprocess.CompletedProcess | None]:
        source, key = item
        if time.monotonic() > until:
            return source, key, None
        return source, key, subprocess.run(['clang-tidy', '-p', str(build), '-quiet', source],
                                           capture_output=True, text=True, cwd=ROOT, check=False)

    jobs = int(os.environ.get('RECPACK_JOBS') or os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for source, key, done in pool.map(examine, wanted):
            if done is None:
                left_out.append(source)
            elif done.returncode == 0:
                passed += 1
                (passed_before / key).touch()
            else:
                failures.append(source)
                print(f'{source}:\n{done.stdout}{done.stderr}', flush=True)
    if left_out:
        print(f'not examined, for the time was up: {len(left_out)} sources, from {left_out[0]} on')
    print(f'{passed} passed, {len(failures)} failed')
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
