"""Tests downloads of published data sets: continued, checked, and only where there is no such path."""
import hashlib
import os
import random
import shutil
import subprocess
import unittest

from object_server import Faults
from store_case import StoreCase
from support import CIFAR, FAILURE

CHUNK = 4 << 20
ARCHIVE = 'cifar-10-python.tar.gz'


class Files(StoreCase):
    def setUp(self):
        super().setUp()
        self.content = random.Random(5).randbytes(2 * CHUNK + 1000)
        (self.folder / 'there').write_bytes(self.content)
        self.path = self.folder / 'new/file'

    def download(self, code=0, name='there', content=None):
        digest = hashlib.sha256(self.content if content is None else content).hexdigest()
        done = subprocess.run([os.environ['DOWNLOAD_PROGRAM'], f'{self.server.url}/web/{name}', digest, self.path],
                              env={**os.environ, **self.env}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def ranges(self):
        return [wanted for _, _, wanted in self.server.requests]

    def test_comes_whole_and_once(self):
        self.server = self.serve()
        self.download()
        self.assertEqual(self.path.read_bytes(), self.content)
        self.assertEqual([file.name for file in self.path.parent.iterdir()], ['file'])
        self.server.requests.clear()
        self.download()
        self.assertEqual(self.server.requests, [])

    def test_continues_what_is_there(self):
        self.server = self.serve()
        self.path.parent.mkdir()
        part = self.path.with_name('file.part')
        for there in (0, CHUNK + 5, len(self.content)):
            part.write_bytes(self.content[:there])
            self.server.requests.clear()
            self.download()
            self.assertEqual(self.path.read_bytes(), self.content)
            begins = [int(wanted.removeprefix('bytes=').split('-')[0]) for wanted in self.ranges()[1:]]
            self.assertEqual(begins, list(range(there, len(self.content), CHUNK)))
            self.path.unlink()

    def test_faults_are_tried_again(self):
        faults = Faults(0.3, 8, ('cut', '503', 'reset', 'wrong_range', 'truncated'))
        self.server = self.serve(faults=faults)
        for _ in range(6):
            self.download()
            self.assertEqual(self.path.read_bytes(), self.content)
            self.path.unlink()
        self.assertGreater(sum(faults.counts.values()), 2)

    def test_another_file_is_refused_and_removed(self):
        self.server = self.serve()
        said = self.download(code=FAILURE, content=b'other')
        self.assertIn(hashlib.sha256(self.content).hexdigest(), said)
        self.assertIn('name its path', said)
        self.assertEqual([file.name for file in self.path.parent.iterdir()], ['file.lock'])
        self.assertIn('no such', self.download(code=FAILURE, name='absent').lower())

    def test_processes_share_a_download(self):
        self.server = self.serve(delay=0.05)
        digest = hashlib.sha256(self.content).hexdigest()
        programs = [subprocess.Popen([os.environ['DOWNLOAD_PROGRAM'], f'{self.server.url}/web/there', digest, self.path],
                                     env={**os.environ, **self.env}) for _ in range(4)]
        self.assertEqual([program.wait(timeout=60) for program in programs], [0] * 4)
        self.assertEqual(self.path.read_bytes(), self.content)
        self.assertEqual(len(self.server.requests), 4)  # the end, and three chunks


class Published(StoreCase):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.env['RECPACK_MIRROR'] = f'{self.server.url}/web/mirror/'

    def test_archives_are_downloaded_and_checked(self):
        (self.folder / 'mirror').mkdir()
        (self.folder / 'mirror' / ARCHIVE).write_bytes(b'not the archive')
        self.fails('pack', 'cifar10', self.folder / 'out', env=self.env, cwd=self.folder,
                   saying=['SHA-256', '6d958be0', ARCHIVE])
        self.fails('pack', 'cifar100', self.folder / 'out', env=self.env, cwd=self.folder,
                   saying='cifar-100-python.tar.gz')
        self.assertFalse((self.folder / 'out').exists())

    def test_an_archive_that_is_there_is_packed(self):
        downloads = self.folder / 'cache/downloads'
        downloads.mkdir(parents=True)
        shutil.make_archive(self.folder / 'made', 'gztar', CIFAR, 'cifar-10-batches-py')
        shutil.move(self.folder / 'made.tar.gz', downloads / ARCHIVE)
        packed = self.json('pack', 'cifar10', self.folder / 'out', '--no-sync', env=self.env, cwd=self.folder)
        self.assertGreater(packed['records'], 0)
        self.assertEqual(self.server.requests, [])

    def test_a_local_path_stays_one(self):
        shutil.copytree(CIFAR / 'cifar-10-batches-py', self.folder / 'cifar10/cifar-10-batches-py')
        self.json('pack', 'cifar10', self.folder / 'out', '--no-sync', env=self.env, cwd=self.folder)
        self.fails('pack', './cifar100', self.folder / 'other', env=self.env, cwd=self.folder, saying='no such file')
        self.assertEqual(self.server.requests, [])


if __name__ == '__main__':
    unittest.main()
