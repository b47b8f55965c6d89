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
from support import CIFAR, InFolder, main, pack

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'cli'))
from object_server import ObjectServer  # noqa: E402


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

    def test_processes_have_connections_of_their_own(self):
        expected = labels(self.dataset)  # the parent's connections are open
        for method in ('fork', 'spawn'):
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(labels, [pickle.loads(pickle.dumps(self.dataset))] * 2), [expected] * 2)

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
        self.pack(f'recpack_io.pack({str(CIFAR)!r}, "s3://bucket/data")')
        recpack_io.pack(CIFAR, self.folder / 'local')
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
