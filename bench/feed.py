#!/usr/bin/env python3
"""Measures photos that another process makes and hands over, beside the same loader in the training's process.

    bash bench/peers/setup.sh ray tf && bash tests/python/environments.sh
    python3 bench/feed.py --data DIR --out bench/results/feed.json         about 10 minutes
    python3 bench/feed.py --table bench/results/feed.json                  for docs/guide/clusters.md

DIR as for bench/loader.py. All share the machine's processors: what handing over costs is taken from decoding. Entrants
take turns; ratios are taken within a round, each against its own loader without handing over.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from harness import machine
from harness.loader_prepare import COPIES

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH, SECONDS = 128, 8
# Label, environment, script, its argument, and the label of the same without handing over.
ENTRANTS = [('recpack_io.flight', 'ray', 'ours.py', 'flight', 'recpack_io, in the process'),
            ('recpack_io.ray', 'ray', 'ours.py', 'ray', 'recpack_io, in the process'),
            ('recpack_io, in the process', 'ray', 'ours.py', 'local', ''),
            ('tf.data service', 'tf', 'tensorflow_service.py', 'service', 'tf.data, in the process'),
            ('tf.data, in the process', 'tf', 'tensorflow_service.py', 'local', '')]


def run(venvs: pathlib.Path, environment: str, script: str, *words: object) -> dict:
    command = [venvs / environment / 'bin/python', '-B', ROOT / 'bench/feed' / script, *words]
    path = {'PYTHONPATH': str(ROOT / 'build/python/site')} if environment == 'ray' else {}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **path})
    if done.returncode:
        raise RuntimeError(f'{script} {words}: {done.stderr[-2000:]}')
    return json.loads(done.stdout.splitlines()[-1])


def measure(venvs: pathlib.Path, shards: pathlib.Path, kind: str, rounds: int) -> dict:
    rates: dict[str, list[float]] = {entrant[0]: [] for entrant in ENTRANTS}
    configs = {}
    for turn in range(rounds):
        shift = turn % len(ENTRANTS)
        for label, environment, script, how, _ in ENTRANTS[shift:] + ENTRANTS[:shift]:
            got = run(venvs, environment, script, how, shards, kind, BATCH, SECONDS)
            rates[label].append(got['images'] / got['seconds'])
            configs[label] = got['config']
            print(f"{kind} {label}: {rates[label][-1]:,.0f}/s", flush=True)
    entries = []
    for label, _, _, _, beside in ENTRANTS:
        entry = {'label': label, 'config': configs[label], 'rates': [round(rate, 1) for rate in rates[label]],
                 'median': round(statistics.median(rates[label]), 1)}
        if beside:
            ratios = [a / b for a, b in zip(rates[label], rates[beside])]
            entry |= {'beside': beside, 'ratio': round(statistics.median(ratios), 3)}
        entries.append(entry)
    return {'type': kind, 'batch': BATCH, 'seconds': SECONDS, 'rounds': rounds, 'entrants': entries}


def make_shards(photos: pathlib.Path, work: pathlib.Path) -> None:
    """Packs each photo several times: in short epochs the odd last batch, which trainings drop, would count."""
    for photo in photos.glob('*/*'):
        folder = work / 'photos' / photo.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(COPIES):
            shutil.copy(photo, folder / f'{i}-{photo.name}')
    recpack = ROOT / 'build/release/tools/recpack/recpack'
    subprocess.run([recpack, 'pack', work / 'photos', work / 'shards', '--layout', 'classes', '--no-sync', '--quiet'],
                   check=True, stdout=subprocess.DEVNULL)


def table(results: dict) -> str:
    lines = ['| images | handed over by | images/s | in the process | ratio |', '| --- | --- | --- | --- | --- |']
    for row in results['rows']:
        by_label = {entry['label']: entry for entry in row['entrants']}
        for entry in row['entrants']:
            if 'beside' in entry:
                lines.append(f"| {row['type']} | {entry['label']} | {entry['median']:,.0f} | "
                             f"{by_label[entry['beside']]['median']:,.0f} | {entry['ratio']:.2f} |")
    transfer = results['transfer']
    lines += ['', f"Arrow Flight alone, batches of 19.3 MB: {transfer['gb_per_second']:.1f} GB/s, "
                  f"{transfer['sender_core_seconds_per_gb']:.2f} core-seconds a GB to send and "
                  f"{transfer['receiver_core_seconds_per_gb']:.2f} to receive."]
    return '\n'.join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--data', type=pathlib.Path)
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path, help='print these results and run nothing')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--types', default='u8,f32')
    parser.add_argument('--venvs', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    flags = parser.parse_args()
    if flags.table:
        print(table(json.loads(flags.table.read_text(encoding='utf-8'))))
        return
    if not flags.data:
        parser.error('--data is missing')
    work = pathlib.Path(tempfile.mkdtemp(prefix='feed-'))
    try:
        make_shards(flags.data / 'imagenet-sample', work)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'load_average': os.getloadavg()[0],
                   'photos': f'160 ImageNet photos, {COPIES} times each',
                   'transfer': run(flags.venvs, 'ray', 'transfer.py', 19.3, SECONDS),
                   'rows': [measure(flags.venvs, work / 'shards', kind, flags.rounds) for kind in flags.types.split(',')]}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(table(results))
    if flags.out:
        flags.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
