"""Tests that docs/reference/json.md describes what recprobe prints with --json, in runs that have each of its members."""
import json
import os
import shlex
import shutil
import struct
import subprocess
import time
import unittest

from json_page import FitsPage
from launching import clean_environment
from probe_program import EVENTS, MOVING, ProbeCase, RECPROBE, RECTRAIN
from support import FAILURE, FINDING, GOLDEN

FAKE_NVML = os.environ.get('FAKE_NVML_FOLDER')
STEP, WAIT, DEVICE, EXCHANGE, RANGE = 2, 3, 4, 6, 7
NO_DEVICE = 65535
LENGTH = 10_000  # of a step, ns
WORKER = 'line\tworker\t\ttransform Crop\t/job/data.py\t7\tCrop.__call__\t\t/job/train.py:3'
TRAINER = 'line\ttraining thread\tsleep\t__getitem__\t/job/train.py\t12\tItems.fetch\ttime.sleep\t'


class EventFile:
    """Writes events, as docs/format/events.md has them."""

    def __init__(self):
        self.begin = time.monotonic_ns()  # a training whose last step is long ago hangs
        self.records, self.names = [], {}
        self.put(0, self.begin, 0, 0x315456454b504352, NO_DEVICE, 7)

    def put(self, kind, begin, end, value=0, device=0, lane=1, name=''):
        number = self.number(name) if name else 0
        self.records.append(struct.pack('<BBHIIIqqQ', kind, 0, device, lane, number, 0, begin, end, value))

    def number(self, name):
        if name not in self.names:
            self.names[name] = len(self.names) + 1
            for part in (name[at:at + 24].encode() for at in range(0, len(name), 24)):
                self.records.append(struct.pack('<BBHIII24s', 1, len(part), NO_DEVICE, 0, self.names[name], 0, part))
        return self.names[name]


def only_waiting(events, at, step):
    events.put(WAIT, at, at + LENGTH)
    events.put(STEP, at, at + LENGTH, step)


def exchanging(events, at, step, **of):
    """In step with one that is late."""
    events.put(EXCHANGE, at, at + 4000, **of)
    events.put(DEVICE, at + 4000, at + LENGTH, **of)
    events.put(STEP, at, at + LENGTH, step, **of)


def late_for_exchanges(events, at, step, **of):
    events.put(WAIT, at, at + 3800, **of)
    events.put(DEVICE, at + 3800, at + 9800, **of)
    events.put(EXCHANGE, at + 9800, at + LENGTH, **of)
    events.put(STEP, at, at + LENGTH, step, **of)


def of_two_devices(events, at, step):
    exchanging(events, at, step)
    late_for_exchanges(events, at, step, device=1, lane=2)


def sampled(events, at, step):
    """The training thread makes its batches itself; samples of the hook say in which lines."""
    events.put(WAIT, at, at + 3000, 3000)
    events.put(DEVICE, at + 3000, at + LENGTH)
    for name in WORKER, TRAINER:
        events.put(RANGE, at, at + LENGTH, 1_000_000, NO_DEVICE, 9, name)
    events.put(STEP, at, at + LENGTH, step)


def in_turns(events, at, step):
    """A model on two devices that wait for each other."""
    events.put(DEVICE, at, at + 5000, lane=10)
    events.put(DEVICE, at + 5000, at + LENGTH, device=1, lane=11)
    events.put(STEP, at, at + LENGTH, step, device=NO_DEVICE)


def without_steps(events, at, _):
    for kernel in range(3):
        events.put(DEVICE, at + 100_000 * kernel, at + 100_000 * kernel + 50_000)


def without_length(events, at, step):
    events.put(STEP, at, at, step)


class MadeCase(FitsPage, ProbeCase):
    def setUp(self):
        super().setUp()
        # Ceilings of this machine change what is printed.
        self.environment = clean_environment(XDG_CACHE_HOME=self.folder / 'cache')

    def events(self, write, steps=100, length=LENGTH):
        """A folder with the events of one process."""
        folder = self.folder / write.__name__
        folder.mkdir()
        events = EventFile()
        for step in range(steps):
            write(events, events.begin + step * length, step)
        (folder / '7-test.events').write_bytes(b''.join(events.records))
        return folder

    def with_gpus(self, script):
        """The environment of a program on a machine with these GPUs, where the build has the stand-in."""
        path = self.folder / 'nvml'
        path.write_text(script)
        return {**self.environment, **({'LD_LIBRARY_PATH': FAKE_NVML, 'FAKE_NVML': str(path)} if FAKE_NVML else {})}

    def shown(self, *words, **options):
        command, *rest = words
        return self.verdict(command, '--json', *rest, **{'env': self.environment, **options})

    def report(self, name, *words, command='run', **options):
        self.probe(command, '--report', self.folder / name, *words, **{'env': self.environment, **options})
        return self.folder / name


class Verdicts(MadeCase):
    def test_of_traces(self):
        made = [self.shown('read', path) for path in (
            *map(self.events, (only_waiting, of_two_devices, sampled, in_turns)), GOLDEN / 'kineto/cuda.json')]
        self.fits('recprobe read', *made)
        self.fits('device', *(device for one in made for device in one['devices']))
        self.fits('table', *(table for one in made for table in one['tables']))
        self.fits('line', *(line for one in made for line in one.get('lines', [])))
        self.assertIsNone(made[0]['gain']['high'])
        self.assertIsNone(made[3]['causes'][0]['saves'])

    def test_of_reports(self):
        reports = [self.report(f'of-{write.__name__}', self.events(write, length=length), command='read')
                   for write, length in ((of_two_devices, LENGTH), (sampled, LENGTH + 5000))]  # with pauses
        events = self.events(without_steps, length=1_000_000)
        reports.append(self.report('period', '--', 'sh', '-c', f'cp {events}/*.events "$RECPACK_EVENTS"'))
        if FAKE_NVML:
            reports.append(self.report_of_gpus())
        shown = [self.shown('show', report) for report in reports]
        self.fits('recprobe show', *shown)
        self.assertRegex(shown[1]['action']['where'], r'^train\.py:[0-9]+ \(')
        self.assertEqual(shown[1]['action']['where'], shown[1]['causes'][0]['where'])
        hinted = any(one['hints'] for one in shown)
        self.assertTrue(hinted or not FAKE_NVML)
        self.fits('verdict', *shown, never=() if hinted else ('$.hints[]',))

    def report_of_gpus(self):
        process = subprocess.Popen(['sleep', '600'])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        environment = self.with_gpus(f'devices 1\n0.utilization 97 1\n0.processes {process.pid}:1\n')
        return self.report('gpus', '--gpu', 'all', '--seconds', 1, command='attach', env=environment)

    def test_of_programs(self):
        self.fits('recprobe run', *(self.shown('run', '--', *command) for command in (['true'], EVENTS)),
                  never=('$.loader', '$.devices', '$.tables'))


class Reports(MadeCase):
    def rank(self, number, write):
        environment = {**self.environment, 'RANK': str(number), 'WORLD_SIZE': '2', 'LOCAL_RANK': str(number),
                       'LOCAL_WORLD_SIZE': '2', 'EVENTS': str(self.events(write))}
        return self.report(f'runs/{number}', '--job', 'two', '--', 'sh', '-c', 'cp "$EVENTS"/*.events "$RECPACK_EVENTS"',
                           env=environment)

    def test_merged(self):
        self.rank(0, exchanging)
        self.rank(1, late_for_exchanges)
        self.report('runs/none', '--', 'true')
        (self.folder / 'runs/half').mkdir()
        (self.folder / 'runs/half/report.json').write_text('{')
        got = self.shown('merge', self.folder / 'runs', code=FINDING)
        self.fits('recprobe merge', got)
        ranks, alone = got['jobs']
        self.assertEqual((ranks['slow_rank'], alone['slow_rank']), (1, None))
        self.assertEqual((alone['lost'], alone['cure'], ranks['unit']), (None, None, 'device-hours'))
        self.assertIsNotNone(ranks['cure'])

    def test_compared(self):
        short = self.report('short', self.events(without_length), command='read')
        one, other = self.report('one', '--', *EVENTS), self.report('other', '--', *MOVING)
        made = [self.shown('compare', one, other), self.shown('compare', one, short)]
        never = ['$.stages[]']
        if RECTRAIN:
            train = self.train('--devices', 'sim:5ms', '--epochs', '100', '--max-steps', '60')
            trained = self.report('trained', '--', *train)
            made.append(self.shown('compare', trained, trained))
            never = []
        self.fits('recprobe compare', *made, never=never)
        self.assertIsNone(made[1]['changes'][0]['ratio'])


class Gain(MadeCase):
    FEW_ROUNDS = ('--precision', '1000', '--seconds', '200', '--block-steps', '8')

    @unittest.skipUnless(RECTRAIN, 'this build has no trainer')
    def test_of_one_program(self):
        train = self.train('--devices', 'sim:2ms', '--epochs', '100')
        few = self.shown('gain', *self.FEW_ROUNDS, '--', *train, '--max-steps', '60')
        self.assertEqual((few['rounds'], few['gain']['low']), (1, None))
        self.fits('recprobe gain', few, self.shown('gain', *self.FEW_ROUNDS, '--', *train))

    def test_of_a_program_without_our_loader(self):
        self.fits('recprobe gain', self.shown('gain', '--', 'true', code=FAILURE), never=(
            '$.gain', '$.ratio', '$.starvation', '$.interference', '$.synthetic_over_replay', '$.samples_per_s'))

    def test_against_another_command(self):
        self.fits('recprobe gain --against',
                  self.shown('gain', '--against', shlex.join(MOVING), '--rounds', 3, '--', *EVENTS))


@unittest.skipUnless(RECTRAIN, 'this build has no trainer')
class Loaders(MadeCase):
    def test_of_trainings(self):
        train = self.train('--devices', 'sim:5ms', '--epochs', '1000000')
        # The exit code says whether this machine has findings.
        done = subprocess.run([RECPROBE, 'doctor', '--json', '--seconds', '0.2', '--data', self.folder / 'out'],
                              capture_output=True, timeout=120, env=self.environment, check=False)
        self.is_like('recprobe doctor', json.loads(done.stdout))
        traced = self.shown('run', '--trace', '--', *train, '--max-steps', 100)
        self.fits('recprobe run', traced)
        told = self.folder / 'told'
        with told.open('wb') as out:
            trainer = subprocess.Popen(list(map(str, train)), stdout=out, stderr=subprocess.DEVNULL, env=self.environment)
        self.addCleanup(trainer.wait)
        self.addCleanup(trainer.kill)
        while told.stat().st_size == 0:  # of its first epoch
            self.assertIsNone(trainer.poll())
            time.sleep(0.01)
        attached = self.shown('attach', '--pid', trainer.pid, '--seconds', 1)
        self.fits('recprobe attach', attached)
        self.fits('loader', traced['loader'], attached['loader'])


@unittest.skipUnless(FAKE_NVML, 'this build has no stand-in of NVML')
class Doctor(MadeCase):
    # The first has less lanes than it could, which is a finding; the last does not answer.
    GPUS = ('devices 3\ndriver 580.95.05\ncuda 13000\n*.name NVIDIA X\n0.links 1:10:0:5\n0.memory 9 1 4 4\n'
            '0.power_limit 700000\n0.pcie_generation 4\n0.most_pcie_generation 5\n0.pcie_width 4\n0.most_pcie_width 16\n'
            'fail nvmlDeviceGetUtilizationRates 15 2\n')

    def test_of_pictures_and_gpus(self):
        photos = self.folder / 'photos/all'
        photos.mkdir(parents=True)
        for i in range(4):
            shutil.copyfile(GOLDEN / 'image/real_420.jpg', photos / f'{i}.jpg')
        self.pack(self.folder / 'photos', out='shards')
        got = self.shown('doctor', '--seconds', 0.2, '--data', self.folder / 'shards', code=FINDING,
                         env=self.with_gpus(self.GPUS))
        self.fits('recprobe doctor', got)
        self.assertEqual(len(got['machine']['gpus']['devices']), 3)


if __name__ == '__main__':
    unittest.main()
