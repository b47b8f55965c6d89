#!/usr/bin/env python3
"""Measures reading from an object store on loopback, behind a network that our proxy plays.

    bash bench/peers/setup.sh vision streams remote             nginx and the peers, once
    bash tests/python/environments.sh                           our package, for the loaders of photos
    cmake --preset release -DRECPACK_BUILD_BENCH=ON && cmake --build build/release
    python3 bench/remote.py --data DIR --out bench/results/remote.json        about 40 minutes
    python3 bench/remote.py --table bench/results/remote.json                 for docs/guide/object-stores.md

DIR holds imagenet-sample/CLASS/*.JPEG. --rows takes groups by their function's names in
harness/remote_rows.py, such as cpu_rows,capped; the other rows of OUT stay.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys

from harness import machine, remote_rows
from harness.entrants import Setting
from harness.program import parse, say, write
from harness.remote_stand import nginx_of
from harness.remote_table import loaders, table

COPIES = {'photos': 64, 'few': 32}  # of each photo


def prepare(setting: Setting) -> None:
    """Packs copies of the real photos. Skips what is there."""
    for name, copies in COPIES.items():
        out = setting.work / 'remote' / remote_rows.BUCKET / name
        if (out / 'manifest.json').exists():
            continue
        links = setting.work / 'remote-files' / name
        for path in sorted(p for p in (setting.data / 'imagenet-sample').rglob('*') if p.is_file()):
            folder = links / path.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            for number in range(copies):
                link = folder / f'{path.stem}_{number:02}{path.suffix}'
                if not link.exists():
                    link.symlink_to(path)
        subprocess.run([str(setting.build / 'tools' / 'recpack' / 'recpack'), 'pack', str(links), str(out), '--from',
                        'folder', '--quiet', '--no-sync', '--shard-size', '64MB'], check=True)


def version_of_nginx(setting: Setting) -> str:
    return subprocess.run([nginx_of(setting), '-v'], capture_output=True, text=True, check=True).stderr.strip()


def spread(values: list[float]) -> dict:
    return {name: round(of(values), 4) for name, of in (('median', statistics.median), ('min', min), ('max', max))}


def judged(row: dict) -> list[dict]:
    """Each target, what was reached in the median, and whether that meets it."""
    verdicts = []
    for label, sense, target, *own in row['targets']:
        reached = statistics.median(own[0] if own else row['samples'][label])
        met = reached <= target if sense == 'at most' else reached >= target
        verdicts.append({'of': label, 'sense': sense, 'target': target, 'reached': round(reached, 4), 'met': met})
    return verdicts


def entry(row: dict, load: float, rounds: int) -> dict:
    entrants = [{'label': label, 'role': remote_rows.ROLES.get(label.split(' ')[0].strip(','), 'ours'),
                 'figure': spread(values)} for label, values in row['samples'].items()]
    return {'name': row['name'], 'title': row['title'], 'unit': row['unit'], 'date': machine.today(), 'rounds': rounds,
            'load_average': load, 'terms': row['terms'],
            **{key: row[key] for key in ('configs', 'failures', 'labels') if key in row}, 'entrants': entrants, 'targets': judged(row)}


def main() -> None:
    options = parse(__doc__, sys.argv[1:], True)
    if options.table:
        results = json.loads(options.table.read_text(encoding='utf-8'))
        print(table(results) + '\n\n' + loaders(results))
        return
    setting = Setting(options.data.resolve(), options.work.resolve(), options.build.resolve(),
                      options.venvs.absolute(), 1 if options.quick else options.reps)
    prepare(setting)
    before = json.loads(options.out.read_text('utf-8'))['rows'] if options.out and options.out.exists() else []
    rows = {row['name']: row for row in before}
    recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
    chosen = options.rows.split(',') if options.rows else [group.__name__ for group in remote_rows.GROUPS]
    with remote_rows.opened(setting) as port:
        for group in remote_rows.GROUPS:
            if group.__name__ not in chosen:
                continue
            load = round(os.getloadavg()[0], 2)  # what others did, before we did much
            for row in group(remote_rows.Bench(setting, port), setting.reps):
                rows[row['name']] = made = entry(row, load, setting.reps)
                say(json.dumps({made['name']: {e['label']: e['figure']['median'] for e in made['entrants']},
                                'met': [target['met'] for target in made['targets']]}))
            results = {'date': machine.today(), 'machine': machine.describe(setting.work),
                       'versions': {'recpack': machine.first_line(recpack, '--version'),
                                    'nginx': version_of_nginx(setting), 'curl': machine.first_line('curl', '--version')},
                       'server': 'nginx, 1 worker, sendfile, loopback, plain HTTP', 'rows': list(rows.values())}
            if options.out:
                write(results, options.out)
    if not options.out:
        write(results, None)


if __name__ == '__main__':
    main()
