"""recpack_io.pack(): paths as `recpack pack` packs them, and what Python makes."""
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import recpack_io
from ctrl_c import ctrl_c
from support import CIFAR, COMPRESSIONS, InFolder, golden_rows, main, pack, recpack, recpack_json


# Reads a pipe that its third argument names, behind Ctrl-C.
LET_GO_WHEN_INTERRUPTED = '''
interrupted = threading.Event()
def interrupt(number, frame):
    interrupted.set()
    raise KeyboardInterrupt
def let_go():
    interrupted.wait()
    os.open(sys.argv[3], os.O_RDONLY | os.O_NONBLOCK)
signal.signal(signal.SIGINT, interrupt)
sys.setswitchinterval(60)  # let_go() waits until the main thread waits again
threading.Thread(target=let_go, daemon=True).start()
'''


def rows(count, begin=0):
    for number in range(begin, begin + count):
        yield {'number': number, 'label': number % 3, 'text': b'x' * (number % 50)}


def numbers(folder, split=''):
    return [int(record['number'][0]) for record in recpack_io.open(folder, split=split)]


def contents(folder):
    """Bytes of the files that a user sees, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


class Packing(InFolder):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'

    def pack(self, source, **options):
        return recpack_io.pack(source, self.out, **{'sync': False} | options)

    def holds_nothing(self):
        """Not a data set, nor a shard; and the next job may begin."""
        self.assertEqual(contents(self.out) if self.out.exists() else {}, {})
        state = self.out / '.recpack'
        left = {path.name for path in state.iterdir()} if state.exists() else set()
        self.assertLessEqual(left, {'lock'})
        with self.assertRaises(recpack_io.RecpackError):
            recpack_io.open(self.out)
        self.assertEqual(self.pack(rows(3)).records, 3)


class Records(Packing):
    def test_in_order_over_shards(self):
        result = self.pack(rows(1000), shard_bytes=10_000)
        self.assertEqual(numbers(self.out), list(range(1000)))
        shards = sorted(self.out.glob('*.tfrecord'))
        self.assertEqual((result.records, result.shards, result.skipped), (1000, len(shards), []))
        self.assertEqual(result.nbytes, sum(shard.stat().st_size for shard in shards))
        self.assertGreater(len(shards), 5)
        self.assertEqual([shard.name for shard in shards],
                         [f'train-{i:05}-of-{len(shards):05}.tfrecord' for i in range(len(shards))])
        for shard in shards:
            self.assertLessEqual(shard.stat().st_size, 10_000)
        for shard in shards[:-1]:
            self.assertGreater(shard.stat().st_size, 9_000)
        recpack('verify', self.out)

    def test_manifest(self):
        self.pack(rows(100), class_names=['a', 'b', 'c'], split='eval')
        dataset = recpack_io.open(self.out)
        self.assertEqual((dataset.split, len(dataset), dataset.class_names), ('eval', 100, ['a', 'b', 'c']))
        self.assertEqual((dataset.schema['text'].kind, dataset.schema['number'].max_length), ('bytes', 1))
        manifest = (self.out / 'manifest.json').read_text()
        self.assertIn('"class_counts":{"0":34,"1":33,"2":33}', manifest.replace(' ', '').replace('\n', ''))
        self.assertTrue((self.out / 'eval.recindex').exists())

    def test_splits(self):
        result = self.pack({'train': rows(50), 'eval': list(rows(20, 50)), 'nothing': []},
                           shard_bytes=500)
        self.assertEqual(result.records, 70)
        self.assertEqual(numbers(self.out, 'train'), list(range(50)))
        self.assertEqual(numbers(self.out, 'eval'), list(range(50, 70)))
        recpack('verify', self.out)

    def test_compressions(self):
        for compression in COMPRESSIONS:
            self.pack(rows(500), compression=compression, shard_bytes=5000, overwrite=True)
            self.assertEqual(numbers(self.out), list(range(500)), compression)
            recpack('verify', self.out)

    def test_equal_records_give_equal_bytes(self):
        self.pack(rows(300), shard_bytes=3000)
        first = contents(self.out)
        self.pack(rows(300), shard_bytes=3000, overwrite=True)
        self.assertEqual(contents(self.out), first)

    def test_as_the_loader_takes_it(self):
        self.pack([{'image': pixels, 'label': label} for pixels, label in golden_rows('train')])
        loader = recpack_io.Loader(recpack_io.open(self.out), 'cifar10-eval', batch_size=8,
                                   order='sequential')
        batch = next(iter(loader))
        self.assertEqual(batch['label'].tolist(), [label for _, label in golden_rows('train')[:8]])

    def test_a_program_that_changes_its_folder(self):
        self.addCleanup(os.chdir, os.getcwd())
        other = self.folder / 'other'
        other.mkdir()
        os.chdir(self.folder)

        def moving():
            yield from rows(100)
            os.chdir(other)
            yield from rows(100, 100)
        recpack_io.pack(moving(), 'out', shard_bytes=1000, sync=False)
        self.assertEqual(os.listdir(other), [])
        self.assertEqual(numbers(self.out), list(range(200)))
        recpack('verify', self.out)

    def test_a_record_larger_than_a_shard(self):
        result = self.pack([{'a': b'x' * size} for size in (10, 5000, 10)], shard_bytes=1000)
        self.assertEqual(result.shards, 3)
        recpack('verify', self.out)

    def test_the_program_appends_to_it(self):
        self.pack(({'image': pixels, 'label': label} for pixels, label in golden_rows('train')),
                  class_names=recpack_io.open(CIFAR).class_names)
        before = len(recpack_io.open(self.out))
        pack(CIFAR, self.out, '--append')
        self.assertGreater(len(recpack_io.open(self.out)), before)
        recpack('verify', self.out)


class WholeColumns(Packing):
    COLUMNS = {'image': np.arange(48, dtype='u1').reshape(4, 3, 4), 'label': np.arange(4), 'share': [0.5, 1, 2, 4.0],
               'name': ['a', 'b', 'c', 'd'], 'kind': np.array(['x', 'yy', 'z', ''])}

    def check(self, split):
        dataset = recpack_io.open(self.out, split=split)
        self.assertEqual(len(dataset), 4)
        for row, record in enumerate(dataset):
            np.testing.assert_array_equal(record['image'], self.COLUMNS['image'][row])
            self.assertEqual((record['label'].tolist(), record['share'].tolist()), ([row], [self.COLUMNS['share'][row]]))
            self.assertEqual((record['label'].dtype, record['share'].dtype), ('int64', 'float32'))
            self.assertEqual((bytes(record['name']), bytes(record['kind'])),
                             ('abcd'[row].encode(), self.COLUMNS['kind'][row].encode()))

    def test_a_row_is_a_record(self):
        self.assertEqual(self.pack(self.COLUMNS, split='test').records, 4)
        self.check('test')

    def test_by_split(self):
        told = []
        self.assertEqual(self.pack({'a': self.COLUMNS, 'b': rows(3), 'c': self.COLUMNS}, progress=lambda *at: told.append(at)).records, 11)
        self.check('a')
        self.check('c')
        self.assertEqual(told[-1], (11, None))

    def test_their_number_is_known(self):
        told = []
        self.pack({'a': self.COLUMNS, 'b': self.COLUMNS}, progress=lambda *at: told.append(at))
        self.assertEqual(told[-1], (8, 8))

    def test_labels_of_one_byte_in_rows_are_numbers(self):
        labels = np.array([[6], [9], [255]], dtype='u1')  # as keras.datasets.cifar10.load_data() gives them
        self.pack({'image': np.zeros((3, 2, 2, 3), 'u1'), 'label': labels, 'mask': np.ones((3, 2), 'u1')})
        for row, record in enumerate(recpack_io.open(self.out)):
            self.assertEqual((record['label'].tolist(), record['label'].dtype), ([labels[row, 0]], 'int64'))
            self.assertEqual(record['mask'].dtype, 'uint8')

    def test_of_different_lengths(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "'label' has 4 rows and 'age' has 3"):
            self.pack({'label': np.arange(4), 'age': [1, 2, 3]})
        self.holds_nothing()

    def test_what_is_neither(self):
        for source, said in (({'a': {'label': 3}}, "'label' is neither columns nor splits"),
                             ({'label': np.array(3), 'age': [1]}, "'label' is one value"),
                             ({'image': np.zeros((2, 3)), 'label': (i for i in range(2))}, "'label' is no column"),
                             ({'train': self.COLUMNS, 'test': np.arange(3)}, "'train' is no column")):
            with self.subTest(said), self.assertRaisesRegex(recpack_io.InvalidArgumentError, said):
                self.pack(source)
        self.holds_nothing()


class Failed(Packing):
    def test_an_error_of_the_iterable(self):
        def broken():
            yield from rows(300)
            raise RuntimeError('mine')
        with self.assertRaisesRegex(RuntimeError, 'mine'):
            self.pack(broken(), shard_bytes=1000)
        self.holds_nothing()

    def test_a_record_that_is_refused(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "'b' is of the type NoneType"):
            self.pack([{'a': 1}, {'b': None}])
        self.holds_nothing()

    def test_no_records(self):
        for source in [], {}, {'train': []}, iter(()):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'no items'):
                self.pack(source)
        self.holds_nothing()

    def test_ctrl_c(self):
        script = '''
import itertools, os, signal, sys, threading, recpack_io
def rows():
    for number in itertools.count():
        if number == 5000:
            os.kill(os.getpid(), signal.SIGINT)
        yield {"number": number}
try:
    recpack_io.pack(rows(), sys.argv[1], shard_bytes=1000, sync=False)
except KeyboardInterrupt:
    print("interrupted")'''
        done = subprocess.run([sys.executable, '-c', script, str(self.out)], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.stdout.strip(), 'interrupted', done.stderr)
        self.holds_nothing()

    def test_a_killed_one_begins_anew(self):
        script = '''
import os, signal, sys, recpack_io
def rows():
    for number in range(5000):
        yield {"number": number}
    os.kill(os.getpid(), signal.SIGKILL)
recpack_io.pack(rows(), sys.argv[1], shard_bytes=1000, sync=False)'''
        done = subprocess.run([sys.executable, '-c', script, str(self.out)], timeout=60, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(contents(self.out), {})
        self.pack(rows(10))
        self.assertEqual(numbers(self.out), list(range(10)))
        self.assertEqual([p.name for p in (self.out / '.recpack').iterdir() if '.tmp' in p.name], [])

    def test_a_folder_that_was_packed(self):
        self.pack(rows(10))
        before = contents(self.out)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'overwrite'):
            self.pack(rows(10))
        self.assertEqual(contents(self.out), before)
        self.pack(rows(5), overwrite=True)
        self.assertEqual(numbers(self.out), list(range(5)))
        even = (record for record in recpack_io.open(self.out) if record['number'][0] % 2 == 0)
        self.pack(even, overwrite=True)  # of its own records
        self.assertEqual(numbers(self.out), [0, 2, 4])
        (self.folder / 'mine').mkdir()
        (self.folder / 'mine' / 'file').write_text('mine')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'not empty'):
            recpack_io.pack(rows(10), self.folder / 'mine')
        self.assertEqual([path.name for path in (self.folder / 'mine').iterdir()], ['file'])

    def test_two_at_once(self):
        def inner():
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'another recpack'):
                self.pack(rows(3))
            yield from rows(10)
        self.pack(inner())
        self.assertEqual(len(numbers(self.out)), 10)

    def test_options(self):
        for name in '', '../a', '.a':
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'name of a split'):
                self.pack(rows(1), split=name)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, '0 bytes'):
            self.pack(rows(1), shard_bytes=0)
        with self.assertRaisesRegex(TypeError, 'resize: for paths'):
            self.pack(rows(1), resize=256)
        with self.assertRaisesRegex(TypeError, 'class_names'):
            self.pack(CIFAR, class_names=['a'])
        with self.assertRaisesRegex(TypeError, 'resise'):
            self.pack(CIFAR, resise=3)


class Paths(Packing):
    def test_the_same_bytes_as_the_program(self):
        result = self.pack(CIFAR)
        pack(CIFAR, self.folder / 'program')
        self.assertEqual(contents(self.out), contents(self.folder / 'program'))
        said = recpack_json('pack', CIFAR, self.folder / 'program')
        self.assertEqual((result.records, result.nbytes, result.shards),
                         (said['records'], said['bytes'], len(said['shards'])))

    def test_options(self):
        self.pack(str(CIFAR), shard_bytes=50_000, compression='gzip', level=9, limit=20, shuffle=7,
                  threads=1, kind='cifar10')
        pack(CIFAR, self.folder / 'program', '--shard-size', '50KB', '--compression', 'gzip', '--level', 9,
             '--limit', 20, '--shuffle', 7, '--from', 'cifar10')
        self.assertEqual(contents(self.out), contents(self.folder / 'program'))

    def files(self, count):
        """Class folders of text files."""
        for number in range(count):
            path = self.folder / 'texts' / 'ab'[number % 2] / f'{number}.txt'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'text {number}')
        return self.folder / 'texts'

    def test_bad_items_of_all_tasks_count_together(self):
        source = self.files(30)
        for bad in '0.txt', '28.txt':  # of the first shard, and of the second
            (source / 'a' / bad).write_bytes(b'')
        options = {'shards': 3, 'shuffle': None, 'max_skip': 0.04}  # one
        for task in 0, 1:
            done = self.pack(source, task=(task, 3), **options)
            self.assertEqual((len(done.skipped), done.complete), (1, False))
        with self.assertRaisesRegex(recpack_io.CorruptError, 'other tasks.*max_skip'):
            self.pack(source, task=(2, 3), **options)
        self.assertFalse((self.out / 'manifest.json').exists())
        self.assertTrue(self.pack(source, task=(2, 3), **options | {'max_skip': 0.1}).complete)

    def test_class_folders_are_shuffled_unless_told(self):
        source = self.files(40)
        for shuffle, flags in ({}, ()), ({'shuffle': None}, ('--shuffle', 'off')):
            self.pack(source, overwrite=True, **shuffle)
            pack(source, self.folder / 'program', '--overwrite', *flags)
            self.assertEqual(contents(self.out), contents(self.folder / 'program'))

    def test_out_within_the_source(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'within the folder'):
            recpack_io.pack(self.files(2), self.folder / 'texts' / 'out')

    def test_bad_items(self):
        source = self.files(40)
        (source / 'a' / '0.jpg').write_bytes(b'\xff\xd8\xff no picture')
        with self.assertRaisesRegex(recpack_io.CorruptError, '0.jpg'):
            self.pack(source)
        self.assertFalse((self.out / 'manifest.json').exists())
        result = self.pack(source, max_skip=0.1)
        self.assertEqual((result.records, len(result.skipped)), (40, 1))
        self.assertTrue(result.skipped[0][0].endswith('0.jpg'), result.skipped)
        (source / 'b' / '1.jpg').write_bytes(b'\xff\xd8\xff no picture')
        with self.assertRaisesRegex(recpack_io.CorruptError, 'max_skip'):
            self.pack(source, max_skip=0.03, overwrite=True)
        self.assertFalse((self.out / 'manifest.json').exists())

    def test_what_is_not_there(self):
        with self.assertRaises(recpack_io.NotFoundError):
            self.pack(self.folder / 'nothing')
        (self.folder / 'unknown').write_bytes(b'\0' * 100)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'not a data set that recpack recognises'):
            self.pack(self.folder / 'unknown')
        self.holds_nothing()

    def hold(self, shards):
        """A job of one thread and so many shards does not go past the second one before somebody
        reads this pipe: it is where that one's sidecar is written."""
        pipe = self.out / '.recpack' / f'train-00001-of-{shards:05}.tfrecord.json'
        pipe.parent.mkdir(parents=True)
        os.mkfifo(pipe)
        return pipe

    def test_ends_where_progress_raises_and_goes_on(self):
        source, held, raised, ends = self.files(400), self.hold(400), threading.Event(), []

        def stop(done, total):
            self.assertIs(threading.current_thread(), threading.main_thread())
            raised.set()
            raise RuntimeError(f'{done} of {total}')

        def let_go():
            raised.wait()
            ends.append(os.open(held, os.O_RDONLY | os.O_NONBLOCK))
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(60)  # let_go() waits until the main thread has raised, and waits itself
        other = threading.Thread(target=let_go, daemon=True)
        other.start()
        with self.assertRaisesRegex(RuntimeError, ' of '):
            self.pack(source, shard_bytes=1, threads=1, progress=stop)
        other.join()
        os.close(ends[0])
        self.assertFalse((self.out / 'manifest.json').exists())
        held.unlink()
        with self.assertRaises(recpack_io.NotFoundError):
            recpack_io.open(self.out)
        self.assertEqual(self.pack(source, shard_bytes=1).records, 400)
        recpack('verify', self.out)

    def test_no_thread_can_be_started(self):
        done = subprocess.run([sys.executable, '-c', '''
import resource, sys, recpack_io
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (1 << 20)
resource.setrlimit(resource.RLIMIT_AS, (used, used))
try:
    recpack_io.pack(sys.argv[1], sys.argv[2])
except recpack_io.IoError as error:
    print(error)
''', CIFAR, self.out], text=True, capture_output=True, check=False)
        self.assertIn('a thread cannot be started', done.stdout, done.stderr)

    def test_ctrl_c(self):
        held = self.hold(400)
        done = ctrl_c(self.folder, 'recpack_io.pack(sys.argv[1], sys.argv[2], shard_bytes=1, threads=1)',
                      self.files(400), self.out, held, begin=LET_GO_WHEN_INTERRUPTED)
        self.assertEqual(done.stdout, 'interrupted\n', done.stderr)
        self.assertFalse((self.out / 'manifest.json').exists())


class Progress(Packing):
    def test_records(self):
        for source, total in (list(rows(500)), 500), (rows(500), None):
            seen = []
            self.pack(source, overwrite=True, progress=lambda *at: seen.append(at))
            self.assertEqual(seen[-1], (500, total))
            self.assertEqual(sorted(seen), seen)

    def test_stops_the_job(self):
        def stop(done, total):
            raise RuntimeError('enough')
        with self.assertRaisesRegex(RuntimeError, 'enough'):
            self.pack(rows(100), progress=stop)
        self.holds_nothing()

    def test_path(self):
        seen = []
        self.pack(CIFAR, progress=lambda *at: seen.append(at))
        self.assertEqual(seen[-1][0], seen[-1][1])
        self.assertGreater(seen[-1][1], 0)


if __name__ == '__main__':
    main()
