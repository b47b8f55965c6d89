"""The results of bench/gpu.sh: report.py DIR ROWS OUT REPOSITORY DRY_RUN.

Ends with 1 if a row failed.
"""
import datetime
import json
import os
import platform
import re
import subprocess
import sys

source, rows, out, repository, dry_run = sys.argv[1:]
rows = [json.loads(line) for line in open(rows)]
device = next((row['device'] for row in rows if 'device' in row), None)


def said(*command: str) -> str:
    """What a program of the system prints; nothing where there is none."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ''


cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo')
            if line.startswith('model name')), platform.machine())
report = {
    'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC'),
    'device': device or 'none',
    'driver': said('nvidia-smi', '--query-gpu=driver_version', '--format=csv,noheader'),
    'cpu': cpu, 'cpus': len(os.sched_getaffinity(0)),
    'commit': open(os.path.join(source, 'commit')).read().strip(),
    'rows': rows,
}
text = '{\n' + ',\n'.join(
    f'  {json.dumps(k)}: {json.dumps(v)}' for k, v in report.items() if k != 'rows')
text += ',\n  "rows": [\n' + ',\n'.join('    ' + json.dumps(row) for row in rows) + '\n  ]\n}\n'
bad = [row['step'] for row in rows if 'failed' in row or row.get('failed_tests')]
if dry_run == 'yes':
    print(text, end='')
else:
    if not out:
        name = re.sub(r'[^a-z0-9]+', '-', (device or 'none').lower()).strip('-')
        out = os.path.join(repository, 'bench', 'results', f'gpu-{name}.json')
    with open(out, 'w') as file:
        file.write(text)
    print(f'gpu: {len(rows)} rows in {out}')
for step in bad:
    print(f'gpu: failed: {step}', file=sys.stderr)
sys.exit(1 if bad else 0)
