"""Parts of cluster jobs, in an object store and on the disk: attempts that fail or come late, splits, overwriting,
rivals and faults."""
import itertools
import os
import pathlib
import pickle
import sys
import tempfile
import unittest
from unittest import mock

import recpack_io
from recpack_io.adapting.parts import Parts
from support import main, recpack

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'cli'))
from object_server import ACCESS, SECRET, Faults, ObjectServer  # noqa: E402


def rows(first, end):
    return [{'id': n, 'label': n % 3, 'text': f'{n}'.encode()} for n in range(first, end)]


class OnWrite(Faults):
    """Acts once, before the first object is written whose path has such a part."""

    def __init__(self, server, part, act):
        super().__init__()
        self.server, self.part, self.act = server, part, act
        self.since = len(server.requests)

    def draw(self):
        seen = any(method == 'PUT' and self.part in path for method, path, _ in list(self.server.requests)[self.since:])
        if seen and self.act is not None:
            act, self.act = self.act, None
            act()


class Store(unittest.TestCase):
    """Each test has a bucket."""

    root: pathlib.Path
    server: ObjectServer
    buckets = itertools.count()

    def setUp(self):
        name = f'bucket-{next(self.buckets)}'
        self.folder, self.url = self.root / name / 'a data', f's3://{name}/a data'
        self.folder.parent.mkdir()
        self.addCleanup(setattr, self.server, 'copies', 'done')
        self.addCleanup(setattr, self.server, 'faults', Faults())

    def begun(self, split='train', **options):
        """Parts as a task has them, too."""
        parts = Parts(self.url, split, **options)
        parts.begin()
        return pickle.loads(pickle.dumps(parts))

    def written(self, split='train'):
        return [int(record['id'][0]) for record in recpack_io.open(self.url, split=split)]

    def names(self):
        """Paths of all objects."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob('*') if path.is_file())

    def verify(self):
        self.assertIn('all is well', recpack('verify', self.url))
        self.assertEqual(self.server.uploads, {})

    def publish(self, split='train', first=0, end=30, **options):
        parts = self.begun(split, **options)
        middle = (first + end) // 2
        parts.publish([parts.write(1, rows(middle, end)), parts.write(0, rows(first, middle))])


def setUpModule():
    """Starts a store for all tests: settings of s3:// are those of the process's first use."""
    holder = tempfile.TemporaryDirectory(prefix='recpack-parts-')
    unittest.addModuleCleanup(holder.cleanup)
    Store.root = pathlib.Path(holder.name)
    Store.server = ObjectServer(Store.root)
    unittest.addModuleCleanup(Store.server.close)
    os.environ.update(Store.server.environment(), RECPACK_CACHE=str(Store.root / 'cache'), GS_ACCESS_KEY_ID=ACCESS,
                      GS_SECRET_ACCESS_KEY=SECRET, STORAGE_EMULATOR_HOST=Store.server.url)


class Publishing(Store):
    def test_tasks_make_a_data_set_in_their_order(self):
        parts = self.begun(shard_bytes=2000)
        names = [parts.write(task, iter(rows(100 * task, 100 * task + 100))) for task in (3, 0, 2, 1)]
        self.assertIsNone(parts.write(4, []))
        self.assertFalse((self.folder / 'manifest.json').exists())
        before = len(self.server.requests)
        parts.publish(names)
        self.assertEqual(self.written(), list(range(400)))
        data = recpack_io.open(self.url)
        self.assertEqual(data.schema['text'].kind, 'bytes')
        names = self.names()
        self.assertEqual(names[0], 'manifest.json')
        self.assertRegex(names[1], r'^train-[0-9a-f]{8}-00000-of-000\d\d.tfrecord$')
        self.assertGreater(len(names), 10)
        self.assertRegex(names[-1], r'^train-[0-9a-f]{8}.recindex$')
        self.verify()
        requests = list(self.server.requests)[before:]
        last = [path for method, path, _ in requests if method == 'PUT'][-1]
        self.assertTrue(last.endswith('/manifest.json'))
        # Shards are copied by the store.
        read = [path for method, path, _ in requests if method == 'GET' and '/.parts-' in path and '.tfrecord' in path]
        copied = [path for method, path, _ in requests if method == 'PUT' and path.endswith('.tfrecord')]
        self.assertEqual(read, [])
        self.assertEqual(len(copied), len(names) - 2)

    def test_the_manifest_is_that_of_a_folder(self):
        def publish(out, end, split):
            parts = Parts(out, split)
            parts.begin()
            parts.publish([parts.write(0, [{'id': 1, 'text': b'one'}]), parts.write(1, rows(0, end))])
        local = self.root / 'local'
        for end, split in ((10, 'train'), (20, 'test')):
            publish(local, end, split)
            publish(self.url, end, split)
        here, there = recpack_io.open(local), recpack_io.open(self.url)
        self.assertEqual((here.splits, here.schema), (there.splits, there.schema))
        self.verify()

    def test_a_job_that_is_discarded_leaves_nothing(self):
        parts = self.begun()
        parts.write(0, rows(0, 10))
        # As of a worker that was killed.
        key = f'{self.folder.relative_to(self.root)}/{next(self.folder.glob(".parts-*")).name}/0-killed/x.tfrecord'
        self.server.uploads['killed'] = {'name': key, 'parts': {}}
        parts.discard()
        self.assertEqual(self.names(), [])
        self.assertEqual(self.server.uploads, {})
        self.begun().publish([])  # without rows
        self.assertEqual(self.names(), [])


class Attempts(Store):
    def test_attempts_that_do_not_count_leave_nothing(self):
        parts = self.begun()

        def failing():
            yield from rows(0, 50)
            raise ValueError('a task fails')
        with self.assertRaisesRegex(ValueError, 'a task fails'):
            parts.write(0, failing())
        counted, _ = parts.write(0, rows(0, 10)), parts.write(0, rows(0, 10))
        parts.publish([counted])
        self.assertEqual(self.written(), list(range(10)))
        self.assertEqual(len(self.names()), 3)
        with self.assertRaisesRegex(FileNotFoundError, 'this job has ended, and the attempt came too late'):
            parts.write(1, rows(10, 20))
        self.assertEqual(len(self.names()), 3)
        self.verify()

    def test_an_attempt_that_the_end_of_the_job_overtakes(self):
        parts = self.begun()

        def slow():
            yield from rows(0, 10)
            parts.discard()
        with self.assertRaisesRegex(FileNotFoundError, 'came too late'):
            parts.write(0, slow())
        self.assertEqual(self.names(), [])

    def test_leftovers_of_a_job_are_no_data_set(self):
        parts = self.begun()
        parts.write(0, rows(0, 10))
        with self.assertRaises(recpack_io.RecpackError):
            recpack_io.open(self.url)
        self.publish()  # beside them
        self.assertEqual(self.written(), list(range(30)))
        self.verify()


class Beside(Store):
    def test_a_second_split(self):
        self.publish()
        self.publish('test', 50, 55)
        self.assertEqual(recpack_io.open(self.url).splits, {'test': 5, 'train': 30})
        self.assertEqual(self.written(), list(range(30)))
        self.assertEqual(self.written('test'), list(range(50, 55)))
        self.verify()
        before = self.names()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "a data: has a split 'test'; name another split"):
            self.begun('test')
        self.assertEqual(self.names(), before)

    def test_a_split_of_a_pack(self):
        recpack_io.pack(rows(0, 20), self.url)
        self.publish('test', 50, 55)
        recpack_io.pack(rows(5, 9), self.url, split='test', overwrite=True)  # removes both
        self.assertEqual(recpack_io.open(self.url).splits, {'test': 4})
        self.assertEqual(len([name for name in self.names() if not name.startswith('.recpack/')]), 3)

    def test_overwriting(self):
        recpack_io.pack(rows(0, 20), self.url)
        (self.folder / '.recpack').mkdir(exist_ok=True)
        (self.folder / '.recpack/plan-append1.json').write_text('{}')
        before = self.names()
        parts = self.begun(overwrite=True)
        name = parts.write(0, rows(40, 60))
        self.assertEqual(self.written(), list(range(20)))  # until the end
        parts.discard()
        self.assertEqual(self.names(), before)
        parts = self.begun(overwrite=True)
        name = parts.write(0, rows(40, 60))
        parts.publish([name])
        self.assertEqual(self.written(), list(range(40, 60)))
        self.assertEqual(len(self.names()), 3)
        self.verify()

    def test_other_objects(self):
        self.folder.mkdir()
        (self.folder / 'notes.txt').write_text('mine')
        for overwrite in (False, True):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, r'a data: has other files \(notes.txt\)'):
                self.begun(overwrite=overwrite)
        self.assertEqual(self.names(), ['notes.txt'])


class OnTheDisk(Store):
    """The same in a folder."""

    def setUp(self):
        super().setUp()
        self.url = str(self.folder)


class AttemptsOnTheDisk(OnTheDisk, Attempts):
    pass


class BesideOnTheDisk(OnTheDisk, Beside):
    def test_shards_have_the_usual_names(self):
        self.publish()
        self.publish(overwrite=True)
        self.assertEqual(self.names(), ['manifest.json', 'train-00000-of-00002.tfrecord',
                                        'train-00001-of-00002.tfrecord', 'train.recindex'])

    def test_another_job_makes_the_split_first(self):
        parts = self.begun()
        name = parts.write(0, rows(0, 20))
        self.publish()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "has a split 'train'"):
            parts.publish([name])
        parts.discard()
        self.assertEqual((len(self.names()), self.written()), (4, list(range(30))))

    def test_a_file_in_the_place_of_a_shard(self):
        parts = self.begun()
        names = [parts.write(task, rows(0, 20)) for task in range(2)]
        (self.folder / 'train-00001-of-00002.tfrecord').write_text('mine')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'has other files .train-00001'):
            parts.publish(names)
        parts.discard()
        self.assertEqual(self.names(), ['train-00001-of-00002.tfrecord'])


class Rivals(Store):
    def publish_against(self, overtaking, split='train', overwrite=False):
        """Publishes, while another job's publish() comes in just before the manifest; returns the error."""
        parts = self.begun(split, overwrite=overwrite)
        name = parts.write(0, rows(0, 20))
        self.server.faults = OnWrite(self.server, 'manifest.json', overtaking)
        with self.assertRaises(recpack_io.InvalidArgumentError) as raised:
            parts.publish([name])
        self.assertIsNone(self.server.faults.act)
        parts.discard()
        return str(raised.exception)

    def rival(self, split, **options):
        parts = self.begun(split, **options)
        name = parts.write(0, rows(100, 105))
        return lambda: parts.publish([name])

    def test_another_job_makes_the_data_set_first(self):
        for split in ('train', 'test'):
            error = self.publish_against(self.rival('train', overwrite=split == 'test'), split, overwrite=split == 'test')
            self.assertIn('another job wrote this object meanwhile', error)
            self.assertIn('write the data again', error)
            self.assertEqual(self.written(), list(range(100, 105)))
            self.assertEqual(len(self.names()), 3)
            self.verify()

    def test_another_job_adds_a_split_first(self):
        self.publish('eval')
        error = self.publish_against(self.rival('test'))
        self.assertIn('another job wrote this object meanwhile', error)
        self.assertEqual(recpack_io.open(self.url, split='test').splits, {'eval': 30, 'test': 5})
        self.assertEqual(len([name for name in self.names() if name.endswith('.tfrecord')]), 3)
        self.verify()
        self.publish()  # again
        self.assertEqual(recpack_io.open(self.url).splits, {'eval': 30, 'test': 5, 'train': 30})
        self.verify()

    def test_the_data_set_is_removed_meanwhile(self):
        self.publish('eval')
        error = self.publish_against((self.folder / 'manifest.json').unlink)
        self.assertIn('another job removed this object meanwhile', error)
        self.assertFalse((self.folder / 'manifest.json').exists())

    def test_splits_of_jobs_that_end_one_after_the_other(self):
        jobs = [(self.begun(split), split) for split in ('train', 'test')]
        for parts, split in jobs:
            parts.publish([parts.write(0, rows(0, len(split)))])
        self.assertEqual(recpack_io.open(self.url).splits, {'test': 4, 'train': 5})
        late = self.rival('eval')
        self.publish('eval')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "has a split 'eval'"):
            late()
        self.verify()

    def test_a_lost_answer_after_which_another_job_added_a_split(self):
        """The manifest that the store has then names the shards: they stay."""
        parts, rival = self.begun(), self.begun('test')
        names = [each.write(0, rows(0, 20)) for each in (parts, rival)]
        self.server.faults = faults = mock.Mock()
        since = len(self.server.requests)

        def draw():
            puts = [path for method, path, _ in list(self.server.requests)[since:] if method == 'PUT']
            if not puts or not puts[-1].endswith('/manifest.json'):
                return None
            if faults.lost is None:
                faults.lost = True
                return 'reset'
            if faults.lost is True:
                faults.lost = False
                rival.publish(names[1:])
            return None
        faults.lost, faults.draw = None, draw
        parts.publish(names[:1])
        self.assertIs(faults.lost, False)
        self.assertEqual(recpack_io.open(self.url).splits, {'test': 20, 'train': 20})
        self.verify()


class Faulty(Store):
    def test_faults_of_all_requests(self):
        self.server.faults = Faults(0.2, seed=3, kinds=('500', '503', 'reset', 'late_error'))
        self.publish()
        self.publish('test', 50, 60)
        self.assertGreater(sum(self.server.faults.counts.values()), 10)
        self.server.faults = Faults()
        self.assertEqual((self.written(), self.written('test')), (list(range(30)), list(range(50, 60))))
        self.assertEqual(len(self.names()), 7)
        self.verify()

    def test_copies_that_fail_after_they_began(self):
        parts = self.begun()
        name = parts.write(0, rows(0, 20))
        self.server.faults = Faults(0.7, seed=1, kinds=('late_error',))
        parts.publish([name])
        self.assertGreater(self.server.faults.counts['late_error'], 0)
        self.server.faults = Faults()
        self.assertEqual(self.written(), list(range(20)))
        self.verify()

    def test_stores_without_copies(self):
        for copies in ('not implemented', 'unknown'):
            self.server.copies = copies
            self.publish(overwrite=True)
            self.assertEqual(self.written(), list(range(30)))
            self.verify()

    def test_a_part_that_is_lost(self):
        parts = self.begun()
        names = [parts.write(task, rows(0, 20)) for task in range(3)]
        next(self.folder.glob(f'.parts-*/{names[1]}/*.tfrecord')).unlink()
        with self.assertRaisesRegex(recpack_io.NotFoundError, f'{names[1]}/train-.*: there is no such object'):
            parts.publish(names)
        parts.discard()
        self.assertEqual(self.names(), [])

    def test_copies_in_googles_store(self):
        self.url = self.url.replace('s3://', 'gs://')
        before = len(self.server.requests)
        self.publish()
        self.publish(overwrite=True)
        read = [path for method, path, _ in self.server.requests[before:] if method == 'GET' and '.parts-' in path]
        self.assertEqual([path for path in read if path.endswith('.tfrecord')], [])  # the store copied them
        self.assertEqual(self.written(), list(range(30)))
        self.verify()

    def test_what_is_no_store(self):
        for url, error in ((f'{self.server.url}/web/x', 'a web server takes no objects'), ('ftp://x/y', 'ftp://x/y')):
            with self.assertRaisesRegex(recpack_io.RecpackError, error):
                Parts(url)


if __name__ == '__main__':
    main()
