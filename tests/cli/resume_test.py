"""Tests that a loader that is killed 200 times and resumed delivers the same as an uninterrupted run."""
import collections
import json
import random
import signal
import subprocess
import unittest

from support import CIFAR, RECPACK, CliTest

KILLS = 200
PIPE = 4096  # bytes: a program that nobody reads stops soon, with batches made ahead
RECORD = 3126  # bytes of a CIFAR record in its shard

Line = collections.namedtuple('Line', 'epoch size sha256 samples token')


def position_of(token):
    """Epoch and position: see include/recpack/loader/token.h."""
    return tuple(map(int, token.split('.')[5:7]))


def parse(text):
    """A line of `batches --json --ids`."""
    one = json.loads(text)
    samples = list(zip(one.get('views', [0] * one['samples']), one['ids']))
    return Line(one['epoch'], one['samples'], one['sha256'], samples, one['token'])


class Taken:
    """What a consumer received over all its runs: samples by epoch, and the contents of batches."""

    def __init__(self):
        self.samples = collections.defaultdict(list)
        self.batches = {}  # (epoch, first position, size): SHA-256, where there is one rank
        self.token = None

    def add(self, ranks):
        """One step of all ranks."""
        epoch = ranks[0].epoch
        if len(ranks) == 1:
            first = len(self.samples[epoch])
            self.batches[epoch, first, ranks[0].size] = ranks[0].sha256
        for i in range(ranks[0].size):
            self.samples[epoch] += [rank.samples[i] for rank in ranks if i < rank.size]
        self.token = ranks[0].token

    def count(self):
        return sum(map(len, self.samples.values()))


class Resume(CliTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(5)
        self.two = self.folder / 'two'
        self.data = self.folder / 'one'
        for name, bad in ('one', (3, 17, 30)), ('two', (0, 63)), ('whole', ()):
            self.pack(CIFAR / 'cifar-10-batches-py', out=name)
            shard = self.folder / name / 'train-00000-of-00001.tfrecord'
            data = bytearray(shard.read_bytes())
            for record in bad:
                data[record * RECORD + 100] ^= 1
            shard.write_bytes(data)

    def command(self, flags, token, **more):
        words = [RECPACK, 'batches', self.data, '--recipe', 'cifar10-train', '--ids',
                 '--json', '--seed', '3', '--on-bad-record', 'substitute', '--max-bad', '100%',
                 '--threads', self.chance.randint(1, 6), '--prefetch', self.chance.randint(2, 9),
                 *flags]
        for name, value in more.items():
            words += ['--' + name.replace('_', '-'), value]
        return [str(word) for word in words + (['--resume', token] if token else [])]

    def lives(self, commands):
        """Starts one program per rank and kills each at a random point; returns the complete lines of each."""
        runs = [subprocess.Popen([*command, '--limit', '1000000'], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, pipesize=PIPE) for command in commands]
        printed = []
        for run in runs:
            read = b''
            if self.chance.random() < 0.7:  # in the midst of work
                for _ in range(self.chance.randrange(30)):
                    read += run.stdout.readline()
            else:  # anywhere, also before the first batch
                try:
                    run.wait(self.chance.uniform(0, 0.06))
                except subprocess.TimeoutExpired:
                    pass
            run.send_signal(signal.SIGKILL)
            text = read + run.stdout.read()
            run.stdout.close()
            self.assertEqual(run.wait(), -signal.SIGKILL)
            printed.append([parse(line) for line in text.split(b'\n')[:-1]])
        return printed

    def chain(self, flags, kills, sizes, worlds):
        taken = Taken()
        for _ in range(kills):
            world = self.chance.choice(worlds)
            size = self.chance.choice(sizes)
            printed = self.lives([self.command(flags, taken.token, batch_size=size, rank=rank,
                                               world_size=world) for rank in range(world)])
            for step in zip(*printed):  # the steps that all ranks made
                self.assertEqual(len({position_of(line.token) for line in step}), 1)
                taken.add(step)
        return taken

    def straight(self, flags, size, samples):
        taken = Taken()
        limit = samples // size + samples // 20 + 2  # an epoch's last batch may be short
        command = self.command(flags, None, batch_size=size, limit=limit, ledger=self.folder / 'l')
        done = subprocess.run(command, capture_output=True, check=True)
        for line in done.stdout.splitlines():
            taken.add([parse(line)])
        return taken

    def compare(self, taken, flags, sizes):
        """Returns the share of batches whose arrays were compared."""
        same = 0
        for size in sizes:
            whole = self.straight(flags, size, taken.count())
            for epoch, samples in taken.samples.items():
                self.assertEqual(samples, whole.samples[epoch][:len(samples)], epoch)
            for key in taken.batches.keys() & whole.batches.keys():
                self.assertEqual(taken.batches[key], whole.batches[key], key)
                same += 1
        epochs = sorted(taken.samples)
        self.assertEqual(epochs, list(range(len(epochs))))
        self.assertGreater(len(epochs), 3)
        ledger = [json.loads(line) for line in (self.folder / 'l').read_text().splitlines()]
        self.assertGreater(len(ledger), 8)
        return same / max(1, len(taken.batches))

    def test_other_threads_ranks_and_batch_sizes_in_a_mixture(self):
        flags = ('--mix', f'{self.two}=0.5', '--mix-period', '7', '--order',
                 'window:4:4:2', '--last-batch', 'keep')
        taken = self.chain(flags, KILLS // 2, sizes=(8, 8, 8, 4, 16), worlds=(1, 1, 1, 1, 2, 3))
        self.assertGreater(self.compare(taken, flags, (4, 8, 16)), 0.5)

    def test_every_batch_where_its_size_stays(self):
        flags = ('--mix', f'{self.two}=2', '--order', 'global', '--last-batch', 'pad')
        taken = self.chain(flags, KILLS // 4, sizes=(12,), worlds=(1,))
        self.assertEqual(self.compare(taken, flags, (12,)), 1)

    def test_balanced_classes_with_dropped_ends(self):
        self.data = self.folder / 'whole'  # a balanced view reads all labels first
        flags = ('--balanced', 'label', '--mix', f'{self.two}=1', '--last-batch', 'drop')
        taken = self.chain(flags, KILLS // 4, sizes=(12,), worlds=(1,))
        self.assertEqual(self.compare(taken, flags, (12,)), 1)


if __name__ == '__main__':
    unittest.main()
