#!/usr/bin/env python3
"""Holds reading from a store and packing into one to the same bytes, through faults and kill -9.

    python3 bench/remote_faults.py --data DIR --out bench/results/remote-faults.json      about 15 minutes

Faults are drawn from a seed, per request; counts of what differs, hangs or is left are the result. A short form
runs with the tests: tests/bench/remote_faults_test.py.
"""
import argparse
import json
import os
import pathlib
import subprocess

from harness import machine, remote_rows
from harness.entrants import ROOT, Setting
from harness.program import say, write
from harness.remote_faults import all_figures
from harness.remote_stand import served


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--data', type=pathlib.Path, required=True, help='holds imagenet-sample/CLASS/*.JPEG')
    parser.add_argument('--work', type=pathlib.Path, default=ROOT / 'build' / 'bench-work')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'release')
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--faults', type=int, default=1000)
    parser.add_argument('--kills', type=int, default=200)
    parser.add_argument('--figures', default='', help='only these, separated by commas; the others of OUT stay')
    options = parser.parse_args()
    venvs = pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs'))
    setting = Setting(options.data.resolve(), options.work.resolve() / 'faults', options.build.resolve(), venvs.absolute())
    recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
    out = setting.work / 'remote' / remote_rows.BUCKET / 'sample'
    if not (out / 'manifest.json').exists():
        subprocess.run([recpack, 'pack', str(setting.data / 'imagenet-sample'), str(out), '--from', 'folder', '--quiet',
                        '--no-sync', '--shards', '4'], check=True)
    results = {'date': machine.today(), 'machine': machine.describe(setting.work),
               'versions': {'recpack': machine.first_line(recpack, '--version')}, 'figures': []}
    if options.out and options.figures:
        results['figures'] = json.loads(options.out.read_text(encoding='utf-8'))['figures']
    chosen = [name for name in options.figures.split(',') if name]
    with served(setting, setting.work / 'remote') as port:
        for figure in all_figures(setting, port, 'sample', options.faults, options.kills, chosen, say):
            say(json.dumps(figure))
            others = [each for each in results['figures'] if each['name'] != figure['name']]
            results['figures'] = [*others, figure]
            if options.out:
                write(results, options.out)
    if not options.out:
        write(results, None)


if __name__ == '__main__':
    main()
