#!/usr/bin/env python3
"""Judges which line recprobe names in trainings whose slow line is known.

    python3 bench/strangers.py --out bench/results/strangers.json
    python3 bench/strangers.py --programs torch_gzip_samples --py-spy PY-SPY --out bench/results/strangers.json

The second form adds its rows to the file, or replaces them.

Each program of bench/strangers/ has one planted cause: comments `# planted` mark its lines, and its docstring says in
which environment of bench/peers/setup.sh it runs and which causes of recprobe's are right. recprobe is told nothing.
A line is right if it is one of the marked ones. py-spy, where it is given, is judged by the line at which its samples
are most often; it names no cause. TraceML, where it is given, is judged by whether it says that the input is the limit.
PyTorch's profiler, with --profiler, is judged by the function in whose own code most time went: the planted line must
be in it.
"""
import argparse
import ast
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

    def is_in_function(self, line: int) -> bool:
        """Tells whether a planted line is in the function that this line is in; 0: in none."""
        tree = ast.parse(self.path.read_text(encoding='utf-8'))
        functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]

        def begin(at: int) -> int:
            return max((node.lineno for node in functions if node.lineno <= at <= node.end_lineno), default=0)
        return begin(line) in {begin(planted) for planted in self.lines}

    def is_right(self, file: str, line: int) -> bool:
        return pathlib.Path(file).name == self.path.name and line in self.lines


def environment(site: pathlib.Path) -> dict[str, str]:
    """Lets programs find our own wheel (tests/python/environments.sh)."""
    return {**os.environ, 'PYTHONPATH': str(site)}


def line_of_setting(verdict: dict) -> dict:
    """Returns the line of a cause that is a setting, or of the action: 'train.py:12 (DataLoader)'."""
    first = next(iter(verdict.get('causes', [])), verdict.get('action') or {})
    found = re.match(r'(\S+):(\d+) \(', first.get('where', ''))
    return {'file': found.group(1), 'line': int(found.group(2))} if found else {}


def by_recprobe(recprobe: pathlib.Path, python: pathlib.Path, stranger: Stranger, site: pathlib.Path) -> dict:
    """Returns what recprobe says of the program."""
    done = subprocess.run([recprobe, 'run', '--json', '--', python, '-B', stranger.path], capture_output=True,
                          text=True, timeout=SECONDS, check=False, env=environment(site))
    if done.returncode != 0 or not done.stdout.strip():
        return {'failed': (done.stderr.strip() or 'no verdict').splitlines()[-1]}
    verdict = json.loads(done.stdout.strip().splitlines()[-1])
    line = verdict.get('line') or line_of_setting(verdict)
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


def by_traceml(traceml: pathlib.Path, python: pathlib.Path, stranger: Stranger, site: pathlib.Path) -> dict:
    """Returns TraceML's diagnosis of the program, which names no cause within the input and no line."""
    packages = subprocess.run([python, '-c', 'import site; print(site.getsitepackages()[0])'], capture_output=True, text=True,
                              check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as logs:
        command = [traceml, 'run', ROOT / 'bench/harness/under_traceml.py', '--mode', 'summary', '--logs-dir', logs, '--run-name', 'case',
                   '--args', stranger.path]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS, check=False,
                              env={**os.environ, 'PYTHONPATH': os.pathsep.join((str(site), packages))})
        found = list(pathlib.Path(logs).rglob('final_summary.json'))
        if not found:
            return {'failed': (done.stderr.strip() or 'no summary').splitlines()[-1]}
        kind = json.loads(found[0].read_text(encoding='utf-8'))['primary_diagnosis']['kind']
    of_step = set(stranger.causes) <= {'host', 'model'}
    return {'says': kind, 'right_kind': kind.startswith('INPUT') != of_step}


def by_profiler(python: pathlib.Path, stranger: Stranger, site: pathlib.Path) -> dict:
    """Returns the function of the program that PyTorch's profiler shows most time in."""
    done = subprocess.run([python, '-B', ROOT / 'bench/harness/under_torch_profiler.py', stranger.path], capture_output=True,
                          text=True, timeout=SECONDS, check=False, env=environment(site))
    if done.returncode != 0:
        return {'failed': (done.stderr.strip() or 'no trace').splitlines()[-1]}
    found = json.loads(done.stdout.splitlines()[-1])
    return {**found, 'right_function': bool(found) and stranger.is_in_function(found['line'])}


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
        if options.traceml and stranger.environment == 'vision':
            row['traceml'] = by_traceml(options.traceml, python, stranger, options.site)
        if options.profiler and stranger.environment == 'vision':
            row['profiler'] = by_profiler(python, stranger, options.site)
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
    parser.add_argument('--traceml', type=pathlib.Path, help='the program of the package traceml-ai, for programs in plain PyTorch')
    parser.add_argument('--profiler', action='store_true', help="run programs in plain PyTorch under PyTorch's profiler, too")
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
    traced = [row for row in ran if 'traceml' in row]
    if traced:
        results['traceml'] = {'programs': len(traced), 'right_kind': count(traced, 'traceml', 'right_kind')}
    profiled = [row for row in ran if 'profiler' in row]
    if profiled:
        results['profiler'] = {'programs': len(profiled), 'right_function': count(profiled, 'profiler', 'right_function')}
    print(json.dumps(results))
    if options.out:
        options.out.write_text(json.dumps({**results, 'rows': rows}, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
