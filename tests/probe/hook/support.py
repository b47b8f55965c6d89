"""Runs programs under the hook and reads their events."""
import collections
import faulthandler
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HOOK = HERE.parents[2] / 'src/probe/hook/python'
RECORD = struct.Struct('<BBHIIIqqQ')
STEP, WAIT, RANGE = 2, 3, 7
# As in tests/cli/support.py.
if 'RECPACK_TEST_SECONDS' in os.environ:
    faulthandler.dump_traceback_later(0.9 * float(os.environ['RECPACK_TEST_SECONDS']), exit=True)
MAGIC = int.from_bytes(b'RCPKEVT1', 'little')

# Programs begin with this: parts of a training, and a data set whose items take `delay` seconds.
PRELUDE = '''
import sys, time, torch
from torch.utils.data import DataLoader
from torch.optim import SGD

class Items:
    def __init__(self, count, delay=0):
        self.count, self.delay = count, delay
    def __iter__(self):
        for i in range(self.count):
            time.sleep(self.delay)
            yield i

def train(loader, optimizer, steps=1):
    for _ in loader:
        for _ in range(steps):
            optimizer.step()
'''

# Then the hook samples at its full pace, whatever a sample costs on this machine.
FULL_PACE = '''
import recprobe_hook.input_work
recprobe_hook.input_work._COST = 100
'''

Event = collections.namedtuple('Event', 'kind open lane name begin end value')


def events_of(path):
    """Reads the events of a file. Checks that it is complete and begins with a process record."""
    data = path.read_bytes()
    assert len(data) % RECORD.size == 0, f'{path}: {len(data)} bytes'
    events, names = [], {0: ''}
    for at in range(0, len(data), RECORD.size):
        kind, flags, _, lane, name, _, begin, end, value = RECORD.unpack_from(data, at)
        if at == 0:
            assert (kind, value) == (0, MAGIC), path
        if kind == 0:
            names = {0: ''}
        elif kind == 1:
            text = data[at + 16:at + 16 + flags].decode()
            names[name] = names.get(name, '') + text
        else:
            events.append(Event(kind, bool(flags & 1), lane, names[name], begin, end, value))
    return events


class Told:
    """Events and notices of a program's processes."""

    def __init__(self, folder, pid):
        self.files = {int(p.name.split('-')[0]): events_of(p) for p in folder.glob('*.events')}
        self.notices = ''.join(p.read_text() for p in folder.glob('*.notice'))
        self.events = self.files.get(pid, [])

    def closed(self, kind, *names):
        return [e for e in self.events if e.kind == kind and not e.open and
                (not names or e.name in names)]

    def waits(self, *names):
        return self.closed(WAIT, *names)

    def steps(self):
        return self.closed(STEP)

    def names(self):
        """Returns the names of all waits, in the order written."""
        return [e.name for e in self.waits()]


class HookTest(unittest.TestCase):
    """Gives each test an empty folder, with a subfolder for the events."""
    libraries = HERE / 'libraries'
    python = sys.executable
    prelude = PRELUDE

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='recpack-hook-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.events = self.folder / 'events'
        self.events.mkdir()

    def environment(self, **more):
        path = [str(HOOK)] + ([str(self.libraries)] if self.libraries else [])
        return {**os.environ, 'PYTHONPATH': os.pathsep.join(path), 'PYTHONDONTWRITEBYTECODE': '1',
                'RECPACK_EVENTS': str(self.events), **more}

    def start(self, text, *flags, prelude=None, env=None, **options):
        program = self.folder / 'program.py'
        program.write_text((self.prelude if prelude is None else prelude) + textwrap.dedent(text))
        return subprocess.Popen([self.python, *flags, str(program)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                env=self.environment(**(env or {})), **options)

    def run_program(self, text, *flags, code=0, **options):
        """Runs a program. Returns its events, with its output as `out` and `err`."""
        process = self.start(text, *flags, **options)
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, f'{out}\n{err}')
        told = Told(self.events, process.pid)
        told.pid, told.out, told.err = process.pid, out, err
        return told

    def expect_steps(self, told, count, name='optimizer'):
        """Checks that there are `count` steps, numbered from 0, that do not overlap."""
        steps = told.steps()
        self.assertEqual([s.value for s in steps], list(range(count)), told.notices)
        self.assertEqual({s.name for s in steps}, {name} if count else set())
        for one, other in zip(steps, steps[1:]):
            self.assertLessEqual(one.end, other.begin)
        for step in steps:
            self.assertLess(step.begin, step.end)
