"""Tests the proxy of the store's benches, and reading through its faults: the short form of bench/remote_faults.py."""
import http.client
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'bench'), str(ROOT / 'tests' / 'cli')]
from harness import remote_faults  # noqa: E402
from harness.entrants import Setting  # noqa: E402
from harness.remote_stand import BUCKET, Proxy  # noqa: E402
from object_server import ObjectServer  # noqa: E402

RECPACK = pathlib.Path(os.environ['RECPACK'])
GOLDEN = ROOT / 'tests' / 'golden'
PHOTOS = 'real_420', 'real_422', 'real_444', 'real_gray'


class FaultProxy(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='recpack-faults-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.bucket = self.folder / 'remote' / BUCKET
        self.bucket.mkdir(parents=True)
        self.server = ObjectServer(self.folder / 'remote')
        self.addCleanup(self.server.close)
        self.port = int(self.server.url.rpartition(':')[2])
        self.setting = Setting(ROOT, self.folder, RECPACK.parents[2], self.folder)

    def ask(self, fault, first=10):
        """The answer to a range of a file of 100 bytes; its body is None where it is cut."""
        with Proxy(self.setting, self.port, faulty=1, faults=fault, stall_s=0) as proxy:
            connection = http.client.HTTPConnection('127.0.0.1', proxy.port, timeout=30)
            connection.request('GET', f'/web/{BUCKET}/file', headers={'Range': f'bytes={first}-59'})
            answer = connection.getresponse()
            try:
                body = answer.read()
            except http.client.IncompleteRead:
                body = None
            connection.close()
            self.assertEqual(proxy.counts()['faults'], {fault: 1})
            return answer, body

    def test_each_fault_is_what_it_is_called(self):
        whole = bytes(range(100))
        (self.bucket / 'file').write_bytes(whole)
        right, body = self.ask('stall')
        self.assertEqual((right.status, body), (206, whole[10:60]))
        for status in '500', '503':
            self.assertEqual(self.ask(status)[0].status, int(status))
        self.assertEqual(self.ask('503')[0].headers['Retry-After'], '0')
        self.assertIsNone(self.ask('cut')[1])
        self.assertEqual(self.ask('truncated')[1], whole[10:35])
        corrupt = self.ask('corrupt')[1]
        self.assertEqual(sum(a != b for a, b in zip(corrupt, whole[10:60])), 1)
        self.assertEqual(self.ask('wrong_range')[0].headers['Content-Range'], 'bytes 9-58/100')
        self.assertNotEqual(self.ask('changed')[0].headers['ETag'], right.headers['ETag'])
        with self.assertRaises(ConnectionError):
            self.ask('reset')

    def case(self):
        files = self.folder / 'files'
        for number in range(48):
            (files / 'ab'[number % 2]).mkdir(parents=True, exist_ok=True)
            shutil.copy(GOLDEN / 'image' / f'{PHOTOS[number % len(PHOTOS)]}.jpg', files / 'ab'[number % 2] / f'{number}.jpg')
        remote_faults.subprocess.run([RECPACK, 'pack', files, self.bucket / 'sample', '--from', 'folder', '--quiet',
                                      '--no-sync', '--shards', '3'], check=True)
        credentials = {name: value for name, value in self.server.environment().items() if name != 'AWS_ENDPOINT_URL'}
        return remote_faults.Case(self.setting, 'sample', credentials)

    def test_batches_are_those_of_the_disk(self):
        found = remote_faults.read(self.case(), self.port, 20, lambda text: None)
        self.assertGreaterEqual(found['faults'], 20)
        self.assertEqual((found['different'], found['hangs']), (0, 0), found)

    def test_a_changed_object_is_an_error(self):
        found = remote_faults.changed(self.case(), self.port, 4, share=0.3)
        self.assertEqual(found['wrong'], 0, found)
        self.assertGreater(found['said'], 0, found)

    def test_a_killed_consumer_goes_on(self):
        found = remote_faults.consumer_kills(self.case(), self.port, 3)
        self.assertEqual(found['different'], 0, found)

    def test_a_killed_pack_goes_on(self):
        found = remote_faults.pack_kills(self.setting, 2)
        self.assertEqual((found['different'], found['unfinished_uploads_left']), (0, 0), found)


if __name__ == '__main__':
    unittest.main()
