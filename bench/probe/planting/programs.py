"""Runs trainings, alone or watched by recprobe."""
import json
import os
import pathlib
import signal
import subprocess
import sys

from .cases import Case
from .stores import Store
from .trainings import Placed, Python, Rectrain, Torchrun, Trainer, Unavailable, run


class Programs:
    def __init__(self, build: pathlib.Path, work: pathlib.Path, venvs: pathlib.Path,
                 photos: int = 300):
        self.build, self.work, self.venvs = build, work, venvs
        self.made = {}
        self.data = work / 'shards'
        run([build / 'tests/bench/planted_trainer', work / 'photos', '--photos', photos])
        run([build / 'tools/recpack/recpack', 'pack', work / 'photos', self.data, '--no-sync'])

    def of(self, case: Case):
        name = case.of.program
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]

    def _make(self, name: str):
        if name == 'trainer':
            return Trainer(self.build, self.work, self.data)
        if name == 'store':
            return Store(self.build, self.work)
        if name == 'rectrain':
            return Rectrain(self.build, self._stand_in('cifar10', '--rows', 200))
        if name == 'placed':
            return Placed(self.build, self._stand_in('reviews', '--records', 3000))
        python = self.venvs / ('tf' if name == 'tf' else 'vision') / 'bin/python'
        return (Torchrun if name == 'ddp' else Python)(python, name, self.work)

    def _stand_in(self, kind: str, *size) -> pathlib.Path:
        """Returns shards of a synthetic data set in the format of the real one."""
        recpack, made, data = (self.build / 'tools/recpack/recpack', self.work / f'made-{kind}',
                               self.work / kind)
        run([recpack, 'stand-in', made, '--kind', kind, *size, '--seed', 5])
        source = next(made.glob('*.jsonl')) if kind == 'reviews' else made
        run([recpack, 'pack', source, data, '--no-sync'])
        return data

    def time(self, case: Case) -> float:
        """Returns the mean step in seconds."""
        with Burners(case.burners):
            return self.of(case).time(case)['step_seconds']

    def watch(self, case: Case) -> dict:
        """Returns the mean step and the verdict of recprobe, which does not know the case."""
        program = self.of(case)
        environment = program.environment(case)
        if case.of.cause == 'hang':
            environment = self.busy_gpu()
        with Burners(case.burners):
            result, said = self.told(program, case, environment)
        return {**result, 'said': said}

    def told(self, program, case, environment: dict[str, str] | None = None) -> tuple[dict, dict]:
        """Returns the result of a program and what recprobe says of it."""
        printed = run([self.build / 'tools/recprobe/recprobe', 'run', '--json', '--',
                       *program.command(case)], environment)
        *before, verdict = printed.splitlines()
        return program.result('\n'.join(before)), json.loads(verdict)

    def busy_gpu(self) -> dict[str, str]:
        """Returns an environment with a fake NVML that reports a busy GPU."""
        library = self.build / 'tests/probe/fake_nvml'
        if not library.exists():
            raise Unavailable(f'{library} does not exist: build the tests')
        script = self.work / 'nvml'
        script.write_text('devices 1\n0.utilization 97 40\n', encoding='utf-8')
        return {**os.environ, 'LD_LIBRARY_PATH': str(library), 'FAKE_NVML': str(script)}

    def ready_ms(self) -> dict[str, float]:
        """Returns the time per batch of an unimpeded input [ms], by cause."""
        found = {}
        for name, kind in (('decode', 'trainer: decode'), ('cold-cache', 'trainer: cold-cache'),
                           ('rectrain', 'rectrain: none')):
            try:
                found[name] = 1e3 * self.time(Case(kind, 0, 'sim', 1, 0.1, 0, fixed_steps=150))
            except Unavailable:
                found[name] = 1.0  # its cases will report the reason
        return found

    def close(self) -> None:
        for program in self.made.values():
            program.close()


class Burners:
    """Context in which `count` programs use a processor each."""

    def __init__(self, count: int):
        self.count, self.started = count, []

    def __enter__(self):
        self.started = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
                        for _ in range(self.count)]

    def __exit__(self, *_):
        for burner in self.started:
            os.kill(burner.pid, signal.SIGKILL)
            burner.wait()
