#!/usr/bin/env python3
"""Judges which line recprobe names in trainings whose slow line is known.

    python3 bench/strangers.py --out bench/results/strangers.json
    python3 bench/strangers.py --programs torch_gzip_samples --py-spy PY-SPY --out bench/results/strangers.json

The second form adds its rows to the file, or replaces them.

Each program of bench/strangers/ has one planted cause: comments `# planted` mark its lines, and its docstring says in
which environment of bench/peers/setup.sh it runs and which causes of recprobe's are right. recprobe is told nothing.
A line is right if it is one of the marked ones. py-spy, where it is given, is judged by the line at which its samples
are most often; it names no cause.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

from harness import machine

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / 'bench/strangers'
SECONDS = 240  # for a program, at most
FRAME = re.compile(r'\(([^()]*):(\d+)\)$')  # file and line, at the end of py-spy's name of a frame


class Stranger:
    """A program: where its planted cause is."""

    def __init__(self, path: pathlib.Path):
        text = path.read_text(encoding='utf-8')
        found = re.search(r'^environment: (\S+); cause: (.+)$', text, re.MULTILINE)
        if found is None:
            raise ValueError(f'{path}: its docstring does not say environment and cause')
        self.path, self.name = path, path.stem
        self.environment, self.causes = found.group(1), found.group(2).split(', ')
        self.lines = [n for n, line in enumerate(text.splitlines(), 1) if '# planted' in line]

    def is_right(self, file: str, line: int) -> bool:
        return pathlib.Path(file).name == self.path.name and line in self.lines


def environment(site: pathlib.Path) -> dict[str, str]:
    """Lets programs find our own wheel (tests/python/environments.sh)."""
    return {**os.environ, 'PYTHONPATH': str(site)}


def by_recprobe(recprobe: pathlib.Path, python: pathlib.Path, stranger: Stranger, site: pathlib.Path) -> dict:
    """Returns what recprobe says of the program."""
    done = subprocess.run([recprobe, 'run', '--json', '--', python, '-B', stranger.path], capture_output=True,
                          text=True, timeout=SECONDS, check=False, env=environment(site))
    if done.returncode != 0 or not done.stdout.strip():
        return {'failed': (done.stderr.strip() or 'no verdict').splitlines()[-1]}
    verdict = json.loads(done.stdout.strip().splitlines()[-1])
    line = verdict.get('line', {})
    made_file, _, made_line = line.get('made', '').rpartition(':')
    return {
        'verdict': verdict['verdict'], 'bottleneck': verdict['bottleneck'],
        'line': f"{pathlib.Path(line['file']).name}:{line['line']}" if line else None,
        'phase': line.get('phase'), 'calling': line.get('calling'), 'share': line.get('share'),
        'waits': line.get('waits'), 'says': verdict['evidence'][:1],
        'right_line': bool(line) and (stranger.is_right(line['file'], line['line']) or
                                      made_file != '' and stranger.is_right(made_file, int(made_line))),
        'right_cause': verdict['bottleneck'] in stranger.causes,
    }


def by_py_spy(py_spy: pathlib.Path, python: pathlib.Path, stranger: Stranger, site: pathlib.Path) -> dict:
    """Returns the line at which py-spy's samples of the program and its children are most often."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'raw'
        done = subprocess.run([py_spy, 'record', '--subprocesses', '--format', 'raw', '--output', out, '--', python,
                               '-B', stranger.path], capture_output=True, text=True, timeout=SECONDS, check=False,
                              env=environment(site))
        if not out.exists():
            return {'failed': (done.stderr.strip() or 'no samples').splitlines()[-1]}
        counts: dict[str, int] = {}
        for row in out.read_text(encoding='utf-8').splitlines():
            stack, _, count = row.rpartition(' ')
            frame = stack.rpartition(';')[2]
            if FRAME.search(frame):  # others are processes without a frame of Python
                counts[frame] = counts.get(frame, 0) + int(count)
    if not counts:
        return {'line': None, 'right_line': False}
    top = max(counts, key=lambda frame: counts[frame])
    file, line = FRAME.search(top).groups()
    return {'line': top, 'right_line': stranger.is_right(file, int(line))}


def judge(stranger: Stranger, options: argparse.Namespace) -> dict:
    python = options.venvs / stranger.environment / 'bin/python'
    row = {'program': stranger.name, 'environment': stranger.environment, 'planted': stranger.lines,
           'causes': stranger.causes}
    if not python.exists():
        return {**row, 'unavailable': f'{python} is not there'}
    try:
        row['recprobe'] = by_recprobe(options.build / 'tools/recprobe/recprobe', python, stranger, options.site)
        if options.py_spy:
            row['py_spy'] = by_py_spy(options.py_spy, python, stranger, options.site)
    except subprocess.TimeoutExpired:
        row['unavailable'] = f'it took longer than {SECONDS} s'
    return row


def count(rows: list[dict], tool: str, what: str) -> int:
    return sum(1 for row in rows if row.get(tool, {}).get(what))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release')
    parser.add_argument('--venvs', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    parser.add_argument('--site', type=pathlib.Path, default=ROOT / 'build/python/site', help='where our wheel is')
    parser.add_argument('--py-spy', type=pathlib.Path, help='the program of the package py-spy')
    parser.add_argument('--programs', help='names, by commas (default: all)')
    parser.add_argument('--out', type=pathlib.Path)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    names = options.programs.split(',') if options.programs else [p.stem for p in sorted(PROGRAMS.glob('*.py'))]
    rows = []
    for name in names:
        rows.append(judge(Stranger(PROGRAMS / f'{name}.py'), options))
        print(json.dumps(rows[-1]), flush=True)
    if options.out and options.out.exists():
        now = {row['program'] for row in rows}
        before = json.loads(options.out.read_text(encoding='utf-8'))['rows']
        rows = sorted([row for row in before if row['program'] not in now] + rows, key=lambda row: row['program'])
    ran = [row for row in rows if 'unavailable' not in row]
    results = {'date': machine.today(), 'machine': machine.describe(ROOT),
               'load': os.getloadavg()[2], 'programs': len(ran),
               'recprobe': {what: count(ran, 'recprobe', what) for what in ('right_cause', 'right_line')}}
    # True of a machine that others use: it hides the planted cause.
    results['recprobe']['processors_taken_by_others'] = sum(
        1 for row in ran if row['recprobe'].get('bottleneck') == 'processors taken by others')
    beside = [row for row in ran if 'py_spy' in row]
    if beside:
        results['py_spy'] = {'programs': len(beside), 'right_line': count(beside, 'py_spy', 'right_line')}
    print(json.dumps(results))
    if options.out:
        options.out.write_text(json.dumps({**results, 'rows': rows}, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
