"""Runs TraceML on the PyTorch trainings, to compare its diagnoses with recprobe's verdicts."""
import json
import os
import pathlib
import subprocess
import tempfile

from .cases import Case
from .trainings import HERE, Python, Unavailable

# Share of step time from which on TraceML reports INPUT-BOUND (its user_guide/reading-output.md,
# 0.5.0).
INPUT_FROM = 0.1


def compared(cases: list[dict]) -> list[dict]:
    """Compares both on the cases that TraceML can run, each judged by its own limits."""
    return [{'kind': case['kind'], 'truth': case['judged']['truth'], 'traceml': case['traceml'],
             'traceml_right': case['traceml'].startswith('INPUT') ==
             (case['judged']['truth'] >= INPUT_FROM),
             'recprobe': case['said']['verdict'], 'recprobe_right': case['judged']['band']}
            for case in cases if 'traceml' in case]


class TraceMl:
    def __init__(self, venv: pathlib.Path):
        self.program = venv / 'bin/traceml'
        if not self.program.exists():
            raise Unavailable(
                f'{self.program} does not exist: run bash bench/peers/setup.sh traceml')

    def says(self, case: Case) -> str:
        """Returns TraceML's primary diagnosis."""
        with tempfile.TemporaryDirectory() as logs:
            command = [self.program, 'run', HERE / 'torch_program.py', '--mode', 'summary',
                       '--logs-dir', logs, '--run-name', 'case', '--args',
                       *Python.arguments(case)]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                  env={**os.environ, 'PLANTED_TRACEML': '1'}, check=False)
            found = list(pathlib.Path(logs).rglob('final_summary.json'))
            if not found:
                return f'no summary: exit code {done.returncode}'
            summary = json.loads(found[0].read_text(encoding='utf-8'))
        return summary['primary_diagnosis']['kind']
