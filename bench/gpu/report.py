"""The results of bench/gpu.sh: report.py DIR ROWS OUT. Without words: what OUT calls the GPU.

What OUT has of other steps stays. Ends with 1 if a row failed.
"""
import datetime
import json
import os
import platform
import re
import subprocess
import sys


def said(*command: str) -> str:
    """What a program of the system prints first; nothing where there is none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ''
    return done.stdout.strip().split('\n')[0] if done.returncode == 0 else ''


def gpu(what: str) -> str:
    """What nvidia-smi calls so, of the first GPU."""
    return said('nvidia-smi', f'--query-gpu={what}', '--format=csv,noheader')


def merged(before: list, rows: list) -> list:
    """Rows of steps that were not made again, and behind them those that were made."""
    made = {row['step'] for row in rows}
    return [*(row for row in before if row['step'] not in made), *rows]


def text_of(report: dict, rows: list) -> str:
    """A line for each row."""
    head = [f'  {json.dumps(key)}: {json.dumps(value)}' for key, value in report.items()]
    lines = ',\n'.join('    ' + json.dumps(row) for row in rows)
    return '{\n' + ',\n'.join([*head, f'  "rows": [\n{lines}\n  ]']) + '\n}\n'


def main() -> None:
    """Writes OUT whole or not at all."""
    if len(sys.argv) == 1:
        print(re.sub(r'[^a-z0-9]+', '-', gpu('name').lower()).strip('-') or 'none')
        return
    source, rows, out = sys.argv[1:]
    with open(rows, encoding='utf-8') as file:
        rows = [json.loads(line) for line in file]
    before = []
    if os.path.exists(out):
        with open(out, encoding='utf-8') as file:
            before = json.load(file)['rows']
    cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo', encoding='utf-8')
                if line.startswith('model name')), platform.machine())
    with open(os.path.join(source, 'commit'), encoding='utf-8') as file:
        commit = file.read().strip()
    report = {'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC'),
              'device': gpu('name') or 'none', 'driver': gpu('driver_version'), 'cpu': cpu,
              'cpus': len(os.sched_getaffinity(0)), 'commit': commit}
    all_rows = merged(before, rows)
    with open(out + '.part', 'w', encoding='utf-8') as file:
        file.write(text_of(report, all_rows))
    os.replace(out + '.part', out)
    bad = [row['step'] for row in rows if 'failed' in row or row.get('failed_tests')]
    print(f'gpu: {len(all_rows)} rows in {out}', file=sys.stderr)
    for step in bad:
        print(f'gpu: failed: {step}', file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
