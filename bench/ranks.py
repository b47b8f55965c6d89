#!/usr/bin/env python3
"""Judges what recprobe and other tools say of trainings on several ranks, each with one planted cause.

    bash bench/peers/setup.sh traceml resiliency
    python3 bench/ranks.py --out bench/results/ranks.json       about 16 minutes
    python3 bench/ranks.py --table bench/results/ranks.json     for docs/reference/verdicts.md

The program is bench/ranks/training.py: PyTorch's DistributedDataParallel on two processes of this machine. Each tool runs
as its manual says: recprobe without a change of the program, the others with the lines that they ask for. A tool is
right about the part if it says that input, computation, the code between steps, the exchange, memory, the interpreter
lock or a hang is what costs; about the rank if it names the slow one; about the line if it names a marked one. All that it said is in OUT.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from harness import machine
from harness.table import markdown
from strangers import line_of_setting

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / 'bench/ranks/training.py'
SLOW_RANK = 1
HANGS_AFTER = 60  # seconds, in which a training that does not hang ends
SECONDS = 180  # for a training, at most

# Cause, whether one rank has it, part, and what it is.
CAUSES = {
    'transform': (True, 'input', 'a slow transform'),
    'storage': (True, 'input', 'a slow read'),
    'collate': (False, 'input', 'a slow collate_fn'),
    'restarts': (False, 'input', 'workers that each short epoch starts anew'),
    'forward': (True, 'computation', 'a slow layer, forward'),
    'backward': (True, 'computation', 'a slow layer, backward'),
    'metrics': (True, 'between steps', 'code between steps'),
    'exchange': (False, 'exchange', 'large gradients'),
    'memory': (True, 'memory', 'a list that grows'),
    'hang': (True, 'hang', 'a read without end'),
    # Written after the rules that the runs of those above had changed.
    'checkpoint': (True, 'between steps', 'a compressed checkpoint, each tenth step'),
    'lengths': (True, 'computation', 'longer sequences in a batch'),
    'thread': (True, 'lock', 'a thread that computes in Python'),
    'gather': (False, 'between steps', 'metrics that all ranks exchange at each step'),
}
# What the tools' words are about.
RECPROBE = {'user function': 'input', 'batch function': 'input', 'storage': 'input', 'worker restarts': 'input',
            'too few workers': 'input', 'start of workers': 'input', 'model': 'computation', 'slow rank': 'computation',
            'host': 'between steps', 'training thread': 'between steps', 'exchange between devices': 'exchange', 'interpreter lock': 'lock',
            'hang': 'hang'}
TRACEML = {'INPUT': 'input', 'COMPUTE': 'computation', 'RESIDUAL': 'between steps', 'CREEP': 'memory'}
RESILIENCY = {'data': 'input', 'forward': 'computation', 'backward': 'computation', 'optimizer': 'computation'}


def lines_of(cause: str) -> set[int]:
    text = PROGRAM.read_text(encoding='utf-8').splitlines()
    return {number for number, line in enumerate(text, 1) if f'# planted: {cause}' in line}


def run(command: list, **environment: str) -> tuple[str, str]:
    """Returns what the command printed. One that hangs gets Ctrl-C, as its user would press it."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, env={**os.environ, 'OMP_NUM_THREADS': '1', **environment})
    try:
        return process.communicate(timeout=HANGS_AFTER)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    try:
        return process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def torchrun(python: pathlib.Path, *arguments: str) -> list:
    return [python, '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', 2, PROGRAM, *arguments]


class Recprobe:
    name = 'recprobe'

    def __init__(self, options: argparse.Namespace):
        self.python = options.venvs / 'traceml/bin/python'
        self.program = options.build / 'tools/recprobe/recprobe'

    def says(self, cause: str) -> dict:
        out, errors = run([self.program, 'run', '--json', '--', *torchrun(self.python, cause)])
        verdicts = [line for line in out.splitlines() if line.startswith('{')]
        if not verdicts:
            return {'failed': errors.strip().splitlines()[-1:]}
        verdict = json.loads(verdicts[-1])
        line = verdict.get('line') or line_of_setting(verdict)
        part, rank = RECPROBE.get(verdict['bottleneck']), verdict.get('rank')
        if part is None and verdict['verdict'] in ('moderately input-bound', 'highly input-bound'):
            part = 'input'
        # What only the slow rank runs, and where in the loop.
        between = any('what it does between steps' in each for each in verdict['evidence'])
        if verdict['bottleneck'] == 'slow rank' and between:
            part = 'between steps'
        grows = next((hint for hint in verdict['hints'] if hint.startswith('memory of process')), '')
        if cause == 'memory' and grows:
            part, found = 'memory', re.search(r'\(rank (\d+)\)', grows)
            rank = int(found.group(1)) if found else None
        return {'part': part, 'rank': rank,
                'line': line.get('line') if pathlib.Path(line.get('file', '')).name == PROGRAM.name else None,
                'words': f"{verdict['verdict']}: {verdict['bottleneck']}" + (f'; {grows}' if grows else ''),
                'evidence': verdict['evidence'], 'notes': verdict.get('notes', [])}


class TraceMl:
    name = 'TraceML'

    def __init__(self, options: argparse.Namespace):
        self.program = options.venvs / 'traceml/bin/traceml'

    def says(self, cause: str) -> dict:
        with tempfile.TemporaryDirectory() as logs:
            _, errors = run([self.program, 'run', PROGRAM, '--mode', 'summary', '--logs-dir', logs, '--run-name', 'case',
                             '--nproc-per-node', 2, '--args', cause, '--tool', 'traceml'])
            found = list(pathlib.Path(logs).rglob('final_summary.json'))
            if not found:
                return {'failed': errors.strip().splitlines()[-1:]}
            summary = json.loads(found[0].read_text(encoding='utf-8'))
        kind = summary['primary_diagnosis']['kind']
        ranks = summary['step_time']['diagnosis']['ranks']
        return {'part': next((part for word, part in TRACEML.items() if word in kind), None),
                'rank': ranks[0] if len(ranks) == 1 else None, 'line': None,
                'words': f"{kind}: {summary['primary_diagnosis']['summary']}",
                'evidence': [each['diagnosis']['summary'] for each in summary.values()
                             if isinstance(each, dict) and 'diagnosis' in each]}


class Resiliency:
    name = 'nvidia-resiliency-ext'

    def __init__(self, options: argparse.Namespace):
        self.venv = options.venvs / 'resiliency'
        packages = subprocess.run([self.venv / 'bin/python', '-c', 'import site; print(site.getsitepackages()[0])'],
                                  capture_output=True, text=True, check=True).stdout.strip()
        self.libraries = f'{packages}/nvidia/cuda_cupti/lib'

    def says(self, cause: str) -> dict:
        if cause == 'hang':
            return self.says_of_hang()
        out, errors = run(torchrun(self.venv / 'bin/python', cause, '--tool', 'resiliency'), LD_LIBRARY_PATH=self.libraries)
        found = re.search(r'SAYS (\{.*\})', out)
        if not found:
            return {'failed': errors.strip().splitlines()[-1:]}
        said = json.loads(found.group(1))
        section, ranks = next(iter(said.items()), (None, []))
        return {'part': RESILIENCY.get(section), 'rank': ranks[0] if len(ranks) == 1 else None, 'line': None,
                'words': f'stragglers: {said}' if said else 'no stragglers', 'evidence': []}

    def says_of_hang(self) -> dict:
        """Under its launcher, which ends ranks whose heartbeats stay away."""
        _, errors = run([self.venv / 'bin/ft_launcher', '--nproc-per-node', 2, '--max-restarts', 0,
                         '--ft-rank-heartbeat-timeout', 8, '--ft-initial-rank-heartbeat-timeout', 30, PROGRAM, 'hang',
                         '--tool', 'heartbeats'], LD_LIBRARY_PATH=self.libraries)
        said = re.findall(r':(\d+)\] (Did not get subsequent heartbeat.*)', errors)
        ranks = {int(rank) for rank, _ in said}
        return {'part': 'hang' if said else None, 'rank': ranks.pop() if len(ranks) == 1 else None, 'line': None,
                'words': '; '.join(f'rank {rank}: {text}' for rank, text in said), 'evidence': []}


def judged(cause: str, said: dict) -> dict:
    of_one, part, _ = CAUSES[cause]
    return {'part': said.get('part') == part, 'rank': said.get('rank') == SLOW_RANK if of_one else None,
            'line': said.get('line') in lines_of(cause) if lines_of(cause) else None}


def table(results: dict) -> str:
    """What each tool named of each cause: the part, the rank, the line."""
    tools = results['tools']
    rows = []
    for row in results['rows']:
        cells = []
        for tool in tools:
            right = row[tool]['right']
            cells.append(', '.join(what for what in ('part', 'rank', 'line') if right[what]) or 'nothing')
        rows.append([f"`{row['cause']}`: {row['what']}{', rank 1' if row['of_one'] else ''}", *cells])
    sums = []
    for tool in tools:
        counts = {what: [row[tool]['right'][what] for row in results['rows'] if row[tool]['right'][what] is not None]
                  for what in ('part', 'rank', 'line')}
        sums.append(', '.join(f'{what} {sum(of)} of {len(of)}' for what, of in counts.items()))
    return markdown(['planted', *tools], [*rows, ['all', *sums]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release')
    parser.add_argument('--venvs', type=pathlib.Path, default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    parser.add_argument('--causes', default=','.join(CAUSES))
    parser.add_argument('--tools', default='recprobe,TraceML,nvidia-resiliency-ext')
    parser.add_argument('--out', type=pathlib.Path, help='its rows of other causes and tools stay')
    parser.add_argument('--table', type=pathlib.Path, help='print the table of these results and run nothing')
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.table.read_text(encoding='utf-8'))))
        return
    tools = [kind(options) for kind in (Recprobe, TraceMl, Resiliency)]
    before = {}
    if options.out and options.out.exists():
        before = {row['cause']: row for row in json.loads(options.out.read_text(encoding='utf-8'))['rows']}
    for cause in options.causes.split(','):
        of_one, part, what = CAUSES[cause]
        row = before.setdefault(cause, {})
        row |= {'cause': cause, 'what': what, 'of_one': of_one, 'part': part, 'lines': sorted(lines_of(cause))}
        for tool in tools:
            if tool.name in options.tools.split(','):
                said = tool.says(cause)
                row[tool.name] = {**said, 'right': judged(cause, said)}
                print(cause, tool.name, row[tool.name]['right'], said.get('words', said.get('failed')), flush=True)
    if options.out:
        results = {'date': machine.today(), 'machine': machine.describe(ROOT), 'load_average': os.getloadavg()[2],
                   'versions': {'TraceML': '0.5.0', 'nvidia-resiliency-ext': '0.4.1'},
                   'tools': [tool.name for tool in tools], 'rows': [before[cause] for cause in CAUSES if cause in before]}
        options.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
