"""Data sets at URLs in Python: the same batches, states and records as from a disk."""
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
from unittest import mock

import numpy as np
import recpack_io
from support import CIFAR, GOLDEN, InFolder, main, pack

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'cli'))
from object_server import Faults, ObjectServer  # noqa: E402
from tar_files import write_tar  # noqa: E402


def labels(dataset):
    return [int(record['label'][0]) for record in dataset]


class Urls(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'bucket/data')
        self.local = recpack_io.open(self.folder / 'bucket/data')
        self.server = ObjectServer(self.folder)
        self.addCleanup(self.server.close)
        environment = mock.patch.dict(os.environ, {'RECPACK_CACHE': str(self.folder / 'cache'),
                                                   **self.server.environment()})
        environment.start()
        self.addCleanup(environment.stop)
        # Settings of s3:// are those of the process's first use: https:// here, whose server is the URL's.
        self.url = f'{self.server.url}/web/bucket/data'
        self.dataset = recpack_io.open(self.url)

    def batches(self, dataset, **options):
        loader = recpack_io.Loader(dataset, 'cifar10-train', batch_size=8, seed=3, **options)
        return [(batch.ids.tolist(), batch['image'].tobytes()) for batch in loader]

    def test_batches_are_those_of_the_disk(self):
        for order in ('sequential', 'global', 'window:8:2:2'):
            self.assertEqual(self.batches(self.dataset, order=order), self.batches(self.local, order=order))

    def test_a_writer_sends_its_shard_to_the_store(self):
        """In parts; an exception leaves none."""
        code = """
import sys, numpy as np, recpack_io
rows = np.random.default_rng(1).integers(0, 256, (20, 1_000_000), dtype=np.uint8)
for path in 's3://bucket/one.tfrecord', sys.argv[1]:
    with recpack_io.Writer(path) as writer:
        for row in rows:
            writer.write({'image': row})
try:
    with recpack_io.Writer('s3://bucket/two.tfrecord') as writer:
        for row in rows:
            writer.write({'image': row})
        raise KeyError('no')
except KeyError:
    pass
try:
    recpack_io.Writer(sys.argv[2])
except recpack_io.UnsupportedError as error:
    assert 'a web server takes no objects' in str(error), error
"""
        subprocess.run([sys.executable, '-c', code, str(self.folder / 'one.tfrecord'), self.url], check=True, timeout=100)
        self.assertEqual((self.folder / 'bucket/one.tfrecord').read_bytes(), (self.folder / 'one.tfrecord').read_bytes())
        self.assertFalse((self.folder / 'bucket/two.tfrecord').exists())
        self.assertEqual(self.server.uploads, {})

    def test_tars_are_read_as_they_are(self):
        photo = (GOLDEN / 'image/real_422.jpg').read_bytes()
        (self.folder / 'bucket/tars').mkdir()
        for number in range(2):
            write_tar(self.folder / f'bucket/tars/{number}.tar',
                      ((f'{sample:05}.{extension}', content) for sample in range(20)
                       for extension, content in (('jpg', photo), ('cls', b'%d' % (20 * number + sample)))))

        def batches(folder):
            dataset = recpack_io.open(f'{folder}/bucket/tars/{{0..1}}.tar', fields={'image': 'jpg', 'label': 'cls'})
            loader = recpack_io.Loader(dataset, 'imagenet-train', batch_size=8, seed=5, epochs=1)
            return [(batch.ids.tolist(), batch['label'].tolist(), batch['image'].tobytes()) for batch in loader]
        self.assertEqual(batches(f'{self.server.url}/web'), batches(self.folder))

    def test_records_columns_and_views(self):
        self.assertEqual(labels(self.dataset), labels(self.local))
        np.testing.assert_array_equal(self.dataset.column('label'), self.local.column('label'))
        self.assertEqual(self.dataset.filter(label=3).ids.tolist(), self.local.filter(label=3).ids.tolist())
        self.assertEqual(self.dataset[-1].raw.tobytes(), self.local[-1].raw.tobytes())
        self.assertEqual(self.dataset.path, self.url)

    def test_states_go_between_places(self):
        def loader(dataset):
            return recpack_io.Loader(dataset, 'cifar10-train', batch_size=8, seed=3)
        here, there = loader(self.local), loader(self.dataset)
        next(iter(here))
        there.load_state_dict(here.state_dict())
        expected = [ids for ids, _ in self.batches(self.local)]
        self.assertEqual([batch.ids.tolist() for batch in there], expected[1:])

    def test_stats_tell_what_was_fetched(self):
        def counted(dataset, epochs=1):
            loader = recpack_io.Loader(dataset, 'cifar10-train', batch_size=8, seed=3, threads=2)
            for _ in range(epochs):
                for _ in loader:
                    pass
            return loader.stats()['store']
        zero = counted(self.local)
        self.assertEqual(zero.pop('wait_seconds'), dict.fromkeys(('first_byte', 'transfer', 'throttled', 'retry'), 0.0))
        self.assertEqual(set(zero.values()), {0})
        # The golden shard is smaller than what is fetched when it is opened.
        recpack_io.pack([{'label': n % 10, 'image': bytes([n % 256]) * 3072} for n in range(600)],
                        self.folder / 'bucket/large')
        url = f'{self.server.url}/web/bucket/large'
        fetched = counted(recpack_io.open(url))
        self.assertGreater(fetched['requests'], 0)
        self.assertGreater(fetched['bytes'], 600 * 3072 // 2)
        self.assertGreater(fetched['first_byte_seconds'], 0)
        self.assertEqual((fetched['cache_hit_bytes'], fetched['cache_miss_bytes']), (0, 0))  # there is none
        with mock.patch.dict(os.environ, {'RECPACK_CACHE_BYTES': '1GB'}):
            cached = counted(recpack_io.open(url), epochs=3)
            self.assertGreater(cached['cache_miss_bytes'], 0)
            again = counted(recpack_io.open(url), epochs=1)
        self.assertGreater(again['cache_hit_bytes'], 600 * 3072 // 2)
        # Nothing but the shard's end, when it is opened.
        self.assertEqual((again['cache_miss_bytes'], again['bytes']), (0, 65536 * again['requests']))

    def test_stats_tell_of_throttling(self):
        recpack_io.pack([{'label': n % 10, 'image': bytes([n % 256]) * 3072} for n in range(600)],
                        self.folder / 'bucket/large')
        dataset = recpack_io.open(f'{self.server.url}/web/bucket/large')
        self.server.faults = Faults(0.3, seed=1, kinds=('503',))
        loader = recpack_io.Loader(dataset, 'cifar10-train', batch_size=8, seed=3, threads=2, order='global')
        for _ in loader:
            pass
        store = loader.stats()['store']
        self.assertGreater(store['throttled'], 0)
        self.assertGreaterEqual(store['retried'], store['throttled'])
        self.assertGreater(store['wait_seconds']['throttled'], 0)

    def test_processes_have_connections_of_their_own(self):
        expected = labels(self.dataset)  # the parent's connections are open
        for method in ('fork', 'spawn'):
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(labels, [pickle.loads(pickle.dumps(self.dataset))] * 2), [expected] * 2)

    def test_a_child_forked_while_requests_are_under_way(self):
        """It neither waits for its parent's requests nor for locks of threads that it has not got."""
        recpack_io.pack([{'label': n % 10, 'image': bytes([n % 256]) * 3072} for n in range(2000)],
                        self.folder / 'bucket/large')
        dataset = recpack_io.open(f'{self.server.url}/web/bucket/large')
        expected = [int(dataset[n]['label'][0]) for n in range(0, 2000, 100)]
        batches = iter(recpack_io.Loader(dataset, 'cifar10-train', batch_size=8, seed=3, threads=2, order='global'))
        for _ in range(10):
            next(batches)
            receive, send = multiprocessing.Pipe(False)
            child = multiprocessing.get_context('fork').Process(
                target=lambda: send.send([int(dataset[n]['label'][0]) for n in range(0, 2000, 100)]))
            child.start()
            answered = receive.poll(60)
            child.join(10)  # what it has of the loader is dropped without a hang, too
            code = child.exitcode
            child.kill()
            self.assertTrue(answered)
            self.assertEqual((receive.recv(), code), (expected, 0))

    def test_what_is_not_there(self):
        with self.assertRaisesRegex(recpack_io.RecpackError, 'web server has no listing'):
            recpack_io.open(f'{self.server.url}/web/bucket/none')
        with self.assertRaises(recpack_io.NotFoundError):
            recpack_io.open(f'{self.server.url}/web/bucket/none/train-00000-of-00001.tfrecord')


class Packing(InFolder):
    """In a process of its own, whose first use of s3:// this is."""

    def pack(self, program):
        server = ObjectServer(self.folder)
        self.addCleanup(server.close)
        (self.folder / 'bucket').mkdir(exist_ok=True)
        done = subprocess.run([sys.executable, '-c', 'import recpack_io\n' + program], text=True, capture_output=True,
                              cwd=self.folder, env={**os.environ, 'RECPACK_CACHE': str(self.folder / 'cache'),
                                                    **server.environment()})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(server.uploads, {})
        return done.stdout

    def files(self, folder):
        return {path.name: path.read_bytes() for path in (self.folder / folder).iterdir() if path.is_file()}

    def test_a_path(self):
        self.pack(f'recpack_io.pack({str(CIFAR)!r}, "s3://bucket/data")\n'
                  f'recpack_io.pack({str(CIFAR)!r}, "s3://bucket/data", shuffle=3, append=True)')
        recpack_io.pack(CIFAR, self.folder / 'local')
        recpack_io.pack(CIFAR, self.folder / 'local', shuffle=3, append=True)
        self.assertEqual(self.files('bucket/data'), self.files('local'))

    def test_records(self):
        records = '[{"label": n, "image": bytes([n]) * 1000} for n in range(200)]'
        read = self.pack(f'recpack_io.pack({records}, "s3://bucket/data", shard_bytes=30_000)\n'
                         'print([int(record["label"][0]) for record in recpack_io.open("s3://bucket/data")])')
        self.assertEqual(read.strip(), str(list(range(200))))
        recpack_io.pack(eval(records), self.folder / 'local', shard_bytes=30_000)
        self.assertEqual(self.files('bucket/data'), self.files('local'))

    def test_records_that_fail_leave_nothing(self):
        self.pack('def records():\n    yield {"label": 1}\n    raise KeyError\n'
                  'try:\n    recpack_io.pack(records(), "s3://bucket/data")\n'
                  'except KeyError:\n    pass\nelse:\n    raise SystemExit("no error")')
        self.assertEqual(list((self.folder / 'bucket').rglob('*.*')), [])


if __name__ == '__main__':
    main()
