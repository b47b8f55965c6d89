"""Entrants of a row: the program that each runs, and the measurement of one repetition."""
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS, PEER, REFERENCE = 'ours', 'peer', 'reference'
LIMIT_SECONDS = 600
TIME = '/usr/bin/time'


class Unavailable(Exception):
    """A figure cannot be had on this machine; the text says why."""


@dataclasses.dataclass
class Sample:
    seconds: float
    records: int | None = None  # None: the row's
    bytes: int | None = None
    peak_mb: float | None = None  # resident memory of the process at its peak, where asked for
    more: dict = dataclasses.field(default_factory=dict)  # numbers that only its program knows


@dataclasses.dataclass
class Setting:
    """Where things are, the same for all entrants of a run."""
    data: pathlib.Path
    work: pathlib.Path
    build: pathlib.Path
    venvs: pathlib.Path
    reps: int = 5
    cpus: list[int] = dataclasses.field(default_factory=lambda: sorted(os.sched_getaffinity(0)))

    def environment(self) -> dict:
        """Without the settings of this machine that would slow one side down."""
        names = {k: v for k, v in os.environ.items() if k != 'OPENBLAS_CORETYPE'}
        return names | {'TF_CPP_MIN_LOG_LEVEL': '3', 'TF_ENABLE_ONEDNN_OPTS': '1'}

    def popen(self, command: list[str], cpus: int, **more) -> subprocess.Popen:
        # A child inherits the affinity. To set it behind the fork would make Python copy itself
        # whole, which takes longer than some of the processes that are measured.
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, self.cpus[:cpus])
        try:
            return subprocess.Popen(command, env=self.environment(), **more)
        except OSError as error:
            raise Unavailable(f'{command[0]} does not start: {error.strerror}') from error
        finally:
            os.sched_setaffinity(0, before)


def _last_line(file, back: int = 1) -> str:
    """The `back`-th line from the end that is not empty; '' without."""
    file.seek(0)
    lines = [line for line in file.read().decode(errors='replace').splitlines() if line.strip()]
    return lines[-back] if len(lines) >= back else ''


def _complaint(file, back: int = 1) -> str:
    """Such a line as part of a message."""
    return _last_line(file, back)[:200] or 'no message'


class Entrant:
    """One side of a row. Subclasses say what a repetition is."""

    def __init__(self, label: str, role: str):
        self.label, self.role = label, role
        self.version, self.config = '', ''

    def start(self, setting: Setting, cpus: int) -> None:
        """Before the first repetition; throws Unavailable."""

    def run(self) -> Sample:
        raise NotImplementedError

    def stop(self) -> None:
        """After the last; never fails."""


class Process(Entrant):
    """A repetition is a whole process, from its start to its exit.

    `command` is words, {data}, {work} and {build} replaced; `out` is a folder below work that is
    removed before each repetition, outside the time. A program that ends with a line of JSON may
    say "records" and "bytes" there. With `peak`, GNU time says how much memory it took: the kernel
    counts what a process held before exec, and that would be Python.
    """
    peak = False

    def __init__(self, label: str, role: str, command: list[str], out: str = '', config: str = '',
                 version: str = ''):
        super().__init__(label, role)
        self.command, self.out = command, out
        self.config, self.version = config or ' '.join(command), version

    def start(self, setting, cpus):
        self.setting, self.cpus = setting, cpus
        names = {'data': setting.data, 'work': setting.work, 'build': setting.build}
        self.words = [word.format(**names) for word in self.command]
        if shutil.which(self.words[0]) is None:
            raise Unavailable(f'{self.words[0]} is not there')
        if self.peak and not pathlib.Path(TIME).exists():
            raise Unavailable(f'{TIME} is not there (apt install time)')

    def run(self):
        out = self.setting.work / 'out' / self.out
        if self.out:
            shutil.rmtree(out, ignore_errors=True)
            out.parent.mkdir(parents=True, exist_ok=True)
        words = [TIME, '-q', '-f', '%M', *self.words] if self.peak else self.words
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaint:
            began = time.perf_counter()
            process = self.setting.popen(words, self.cpus, stdout=said, stderr=complaint)
            status = process.wait()
            seconds = time.perf_counter() - began
            if status != 0:
                why = _complaint(complaint, 2 if self.peak else 1)
                raise Unavailable(f'exit {status}: {why}')
            result = self.read(said)
            peak = int(_last_line(complaint)) / 1024 if self.peak else None
        return Sample(seconds, result.get('records'), result.get('bytes'), peak)

    def read(self, said) -> dict:
        try:
            result = json.loads(_last_line(said))
        except ValueError:
            return {}
        if not isinstance(result, dict):
            return {}
        self.version = result.get('version', self.version)
        self.config = result.get('config', self.config)
        return result


def python_of(setting: Setting, environment: str) -> str:
    python = setting.venvs / environment / 'bin' / 'python'
    if not python.exists():
        raise Unavailable(f'no environment: bash bench/peers/setup.sh {environment}')
    return str(python)


def peer_command(setting: Setting, environment: str, script: str, job: str, *more: str):
    path = ROOT / 'bench' / 'peers' / f'peer_{script}.py'
    return [python_of(setting, environment), str(path), job, '--data', str(setting.data),
            '--work', str(setting.work), *more]


class PeerProcess(Process):
    """A whole process of a peer's script: one repetition, or with `mode` --first a loader's first
    batch. `synced`: and until all files of `out` are on the disk."""

    def __init__(self, label: str, environment: str, script: str, job: str, out: str = '',
                 mode: str = '--once', synced: bool = False):
        super().__init__(label, PEER, [], out)
        self.environment, self.script, self.job = environment, script, job
        self.mode, self.synced = mode, synced

    def start(self, setting, cpus):
        self.setting, self.cpus = setting, cpus
        self.words = peer_command(setting, self.environment, self.script, self.job, self.mode,
                                  '--threads', str(cpus))
        if self.synced:
            folder = str(setting.work / 'out' / self.out)
            self.words = ['sh', '-c', 'out=$0; "$@" && find "$out" -type f -exec sync {} +', folder, *self.words]


def guard_of(group: int) -> subprocess.Popen:
    """A process that kills the group once its input ends: also when this program is killed itself,
    which would leave stopped processes behind for ever."""
    return subprocess.Popen(['sh', '-c', 'read -r _; kill -s KILL -- "-$0"', str(group)], stdin=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, start_new_session=True)


class Served(Entrant):
    """A process that stays alive and warm, and does a repetition when it is told to by a line.

    In between it stands still, with all that it started: nobody reads ahead in another's turn.
    """

    def __init__(self, label: str, role: str):
        super().__init__(label, role)
        self.process = None
        self.guard = None

    def words(self, setting: Setting, cpus: int) -> list[str]:
        """The command."""
        raise NotImplementedError

    def start(self, setting, cpus):
        self.complaint = tempfile.TemporaryFile()
        self.process = setting.popen(self.words(setting, cpus), cpus, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=self.complaint, text=True,
                                     start_new_session=True)
        self.guard = guard_of(self.process.pid)
        hello = self.answer()
        self.version, self.config = hello['version'], hello['config']
        self.run()  # warms up

    def answer(self) -> dict:
        while line := self.process.stdout.readline():
            if line.startswith('{'):
                return json.loads(line)
        raise Unavailable(f'its process ended: {_complaint(self.complaint)}')

    def signal(self, number: int) -> None:
        """To the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def run(self):
        self.signal(signal.SIGCONT)
        try:
            self.process.stdin.write('go\n')
            self.process.stdin.flush()
        except OSError as error:
            raise Unavailable(f'its process ended: {_complaint(self.complaint)}') from error
        row = self.answer()
        self.signal(signal.SIGSTOP)
        more = {name: row[name] for name in row if name not in ('seconds', 'records', 'bytes')}
        return Sample(row['seconds'], row['records'], row['bytes'], more=more)

    def stop(self):
        if self.process:
            if self.guard:
                self.guard.communicate()  # kills the group
            self.signal(signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.complaint.close()


class ServedPeer(Served):
    """A peer's script.

    `needs` is (job, folder): what to run first if that folder of its own data is not there yet.
    """

    def __init__(self, label: str, environment: str, script: str, job: str,
                 needs: tuple[str, str] | None = None):
        super().__init__(label, PEER)
        self.environment, self.script, self.job, self.needs = environment, script, job, needs

    def words(self, setting, cpus):
        if self.needs and not (setting.work / 'out' / self.needs[1]).is_dir():
            make = peer_command(setting, self.environment, self.script, self.needs[0], '--once')
            subprocess.run(make, env=setting.environment(), check=False, capture_output=True,
                           timeout=LIMIT_SECONDS)
        return peer_command(setting, self.environment, self.script, self.job, '--serve',
                            '--threads', str(cpus))


class ServedProgram(Served):
    """A bench program of ours that knows --serve. {data}, {work} and {build} are replaced."""

    def __init__(self, label: str, role: str, command: list[str]):
        super().__init__(label, role)
        self.command = command

    def words(self, setting, cpus):
        names = {'data': setting.data, 'work': setting.work, 'build': setting.build}
        return [*(word.format(**names) for word in self.command), '--serve', '1']


class Program(Process):
    """A bench program of ours: does its own warm-up and timing, prints lines of JSON.

    The line whose "job" is `job` counts: "seconds" or "seconds_median" (neither:
    the whole process), "records", "bytes", and
    "peak_mb" where it measures memory itself. Its
    sides (ours, the bare loop that is the ceiling) are different jobs of one program.
    """

    def __init__(self, label: str, role: str, command: list[str], job: str):
        super().__init__(label, role, command)
        self.job, self.line = job, {}

    def read(self, said):
        said.seek(0)
        jobs = []
        for text in said.read().decode(errors='replace').splitlines():
            row = json.loads(text) if text.startswith('{') else {}
            jobs.append(row.get('job'))
            if row.get('job') == self.job:
                self.line = row
        if self.job not in jobs:
            raise Unavailable(f'{self.words[0]} printed no line of job {self.job}')
        self.config = self.line.get('config', self.config)
        return self.line

    def run(self):
        whole = super().run()
        seconds = self.line.get('seconds_median', self.line.get('seconds', whole.seconds))
        peak = self.line.get('peak_mb', whole.peak_mb)
        return dataclasses.replace(whole, seconds=seconds, peak_mb=peak)


class Report:
    """A bench program that has its own rounds and prints a line for each of its sides: run once.

    {data}, {work}, {build} and {reps} are replaced in its words.
    """

    def __init__(self, command: list[str]):
        self.command, self.lines, self.reason = command, None, None

    def read(self, setting: Setting, cpus: int) -> list[dict]:
        if self.lines is None and self.reason is None:
            try:
                self.lines = self._run(setting, cpus)
            except Unavailable as error:
                self.reason = str(error)
        if self.reason:
            raise Unavailable(self.reason)
        return self.lines

    def _run(self, setting: Setting, cpus: int) -> list[dict]:
        words = [word.format(data=setting.data, work=setting.work, build=setting.build,
                             reps=setting.reps) for word in self.command]
        if shutil.which(words[0]) is None:
            raise Unavailable(f'{words[0]} is not there')
        with tempfile.TemporaryFile() as complaint:
            process = setting.popen(words, cpus, stdout=subprocess.PIPE, stderr=complaint,
                                    text=True)
            said, _ = process.communicate()
            if process.returncode != 0:
                raise Unavailable(f'exit {process.returncode}: {_complaint(complaint)}')
        return [json.loads(line) for line in said.splitlines() if line.startswith('{')]


class Reported(Entrant):
    """One side in such a report: the line that has all of `match`; its median counts each time."""

    def __init__(self, label: str, role: str, report: Report, match: dict):
        super().__init__(label, role)
        self.report, self.match, self.config = report, match, ' '.join(report.command)

    def start(self, setting, cpus):
        lines = [line for line in self.report.read(setting, cpus)
                 if self.match.items() <= line.items()]
        if len(lines) != 1:
            raise Unavailable(f'{len(lines)} lines of its report have {self.match}')
        self.rate = lines[0]['records_per_s']

    def run(self):
        return Sample(1 / self.rate, 1)
