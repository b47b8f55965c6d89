"""Trainings with planted causes: their command lines and results."""
import json
import pathlib
import subprocess

from .cases import Case

HERE = pathlib.Path(__file__).resolve().parent


class Unavailable(RuntimeError):
    """Reason why this machine cannot run a case."""


def run(command: list, environment: dict[str, str] | None = None) -> str:
    """Returns the output. Raises Unavailable with the last line of stderr if the command fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, env=environment)
    if done.returncode != 0:
        said = (done.stderr.strip() or f'exit code {done.returncode}').splitlines()
        raise Unavailable(said[-1])
    return done.stdout


class Program:
    """What all have that need nothing else."""

    def environment(self, _case: Case) -> dict[str, str] | None:
        """Returns the environment of a run, None for this one's; makes ready what it needs."""
        return None

    def close(self) -> None:
        """Ends what runs for it."""


class Trainer(Program):
    """Training by planted_trainer."""

    def __init__(self, build: pathlib.Path, work: pathlib.Path, data: pathlib.Path):
        self.program = build / 'tests/bench/planted_trainer'
        self.out, self.data = work / 'out', data

    def command(self, case: Case) -> list:
        cause, more = case.of.cause, []
        if case.of.program == 'store':  # it is in the link
            cause = 'none'
        if case.removed and case.of.of == 'other' and cause != 'hidden-wait':
            cause = 'none'
        elif cause == 'interference':
            cause = 'burn'  # only the other programs are removed
        elif case.removed:
            more = ['--perfect-input', 1]
        if case.perfect:
            more = ['--perfect-input', 1]
        return [self.program, self.data, '--cause', cause, '--strength', case.strength,
                '--device', case.device, '--ranks', case.ranks, '--step-ms', case.step_ms,
                '--steps', case.steps(), '--seed', case.seed, '--out', self.out, *more]

    def result(self, _stdout: str) -> dict:
        return json.loads(self.out.read_text(encoding='utf-8'))

    def time(self, case: Case) -> dict:
        return self.result(run(self.command(case)))


class Rectrain(Program):
    """Training by rectrain on simulated devices."""

    def __init__(self, build: pathlib.Path, data: pathlib.Path):
        self.program, self.data = build / 'tools/rectrain/rectrain', data

    def command(self, case: Case) -> list:
        microseconds = round(1e3 * case.step_ms)
        devices = ','.join([f'sim:{microseconds}us'] * case.ranks)
        return [self.program, 'train', self.data, '--devices', devices, '--batch-size', 8,
                '--epochs', 100000, '--max-steps', case.steps(), '--seed', case.seed,
                '--loader-threads', 2, '--no-evaluation', '--json',
                '--input', 'cached' if case.removed else 'real']

    def result(self, stdout: str) -> dict:
        epochs = json.loads(stdout)['epochs']  # the first one is warm-up
        steps = epochs[-1]['steps'] - epochs[0]['steps']
        seconds = sum(epoch['train_seconds'] for epoch in epochs[1:])
        return {'step_seconds': seconds / steps, 'odd_rank': 0}

    def time(self, case: Case) -> dict:
        return self.result(run(self.command(case)))


class Placed(Rectrain):
    """Training of one network on two CPU devices: operations alternate between them (the cause), or
    each device has a tower."""

    def command(self, case: Case) -> list:
        place = 'user=cpu:0,item=cpu:1' if case.removed else 'alternate'
        # Few filters make computation small compared to copies.
        filters = 2 + round(40 * (0.8 - case.strength))
        return [self.program, 'train', self.data, '--model', 'deepconn', '--devices', 'cpu:0,cpu:1',
                '--threads', 1, '--place', place, '--filters', filters, '--batch-size', 32,
                '--epochs', 100000, '--max-steps', case.steps(), '--seed', case.seed,
                '--embedding', 'separate', '--no-evaluation', '--json']


class Python(Program):
    """Training in Python. Timed runs share one process."""

    def __init__(self, python: pathlib.Path, framework: str, work: pathlib.Path):
        self.python, self.script = python, HERE / f'{framework}_program.py'
        self.out, self.server = work / 'out', None
        if not python.exists():
            raise Unavailable(f'{python} does not exist: run bash bench/peers/setup.sh')

    @staticmethod
    def arguments(case: Case) -> list:
        return ['--cause', case.of.cause, '--strength', case.strength, '--step-ms', case.step_ms,
                '--steps', case.steps(), '--seed', case.seed,
                *(['--removed'] if case.removed else [])]

    def command(self, case: Case) -> list:
        return [self.python, self.script, *self.arguments(case), '--out', self.out]

    def result(self, _stdout: str) -> dict:
        return json.loads(self.out.read_text(encoding='utf-8'))

    def time(self, case: Case) -> dict:
        if self.server is None:
            self.server = subprocess.Popen(
                [self.python, self.script, '--serve'], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.time(case)  # the first training of a process warms it up
        print(*self.arguments(case), file=self.server.stdin, flush=True)
        line = self.server.stdout.readline()
        if not line:
            raise Unavailable(f'{self.script.name} ended')
        return json.loads(line)

    def close(self) -> None:
        if self.server is not None:
            self.server.stdin.close()
            self.server.wait()


class Torchrun(Python):
    """Training in Python with a process per rank."""

    def command(self, case: Case) -> list:
        return [self.python, '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node',
                case.ranks, self.script, *self.arguments(case), '--out', self.out]

    def time(self, case: Case) -> dict:
        return self.result(run(self.command(case)))
