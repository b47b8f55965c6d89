"""What recpack says and leaves behind when something is wrong."""
import os
import resource
import signal
import subprocess
import time
import unittest

from support import CIFAR, FAILURE, RECPACK, CliTest


class Errors(CliTest):
    def test_usage(self):
        self.fails(saying='subcommand is required')
        self.fails('pakc', saying='pakc')
        self.fails('pack', saying='SRC is required')
        self.fails('pack', CIFAR, self.folder / 'out', '--from', 'hdf5', saying='hdf5')
        self.fails('pack', CIFAR, self.folder / 'out', '--shard-size', 'big', saying='is not a size')
        self.fails('pack', CIFAR, self.folder / 'out', '--task', '4/4', saying='is not a task')
        self.fails('pack', CIFAR, self.folder / 'out', '--max-skip', 'all', saying='is not a share')

    def test_a_missing_source(self):
        self.fails('pack', self.folder / 'nothing', self.folder / 'out',
                   saying=['nothing', 'no such file'])
        self.assertFalse((self.folder / 'out').exists())

    def test_something_unknown(self):
        (self.folder / 'a.xyz').write_bytes(b'what is this')
        self.fails('pack', self.folder / 'a.xyz', self.folder / 'out', saying='--from')

    def test_a_folder_with_other_things(self):
        (self.folder / 'out').mkdir()
        (self.folder / 'out/thesis.txt').write_text('dear')
        self.fails('pack', CIFAR, self.folder / 'out', saying='not empty')
        self.assertEqual(list(self.shards()), ['thesis.txt'])

    def test_no_permission(self):
        self.fails('pack', CIFAR, '/proc/recpack', saying='/proc/recpack')

    def test_changed_options_and_sources_are_refused(self):
        photos = self.class_folder()
        self.pack(photos)
        self.fails('pack', photos, self.folder / 'out', '--compression', 'gzip',
                   saying=["compression was 'none' and is now 'gzip'", '--overwrite'])
        (photos / 'ant/0000.bin').write_bytes(b'longer' * 900)
        self.fails('pack', photos, self.folder / 'out', saying='items changed')
        self.pack(photos, '--overwrite')
        self.run_recpack('verify', self.folder / 'out')

    def test_a_full_disk_leaves_what_is_complete(self):
        photos = self.class_folder(files=200)
        words = ['pack', photos, self.folder / 'out', '--shard-size', '50kB', '--threads', '1']

        def no_big_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        self.fails(*words, saying='cannot write', preexec_fn=no_big_files)
        self.assertEqual([n for n in os.listdir(self.folder / 'out/.recpack') if 'tmp' in n], [])
        self.run_recpack(*words)
        self.run_recpack('verify', self.folder / 'out')

    def test_a_file_that_changed_since_it_was_listed(self):
        # A named pipe holds the packer between listing and reading.
        photos = self.class_folder(files=4000)
        packer = subprocess.Popen([RECPACK, 'pack', photos, self.folder / 'out', '--shuffle', 'off',
                                   '--threads', '1'], stderr=subprocess.PIPE, text=True)
        deadline = time.time() + 20
        while not (self.folder / 'out/.recpack/plan.json').exists() and time.time() < deadline:
            time.sleep(0.0005)
        last = max((photos / 'bee').iterdir())
        last.write_bytes(b'x' * 5000)
        _, text = packer.communicate(timeout=60)
        self.assertEqual(packer.returncode, FAILURE)
        self.assertIn(last.name, text)

    def test_two_packers_at_once(self):
        photos = self.class_folder(files=3000)
        words = [RECPACK, 'pack', photos, self.folder / 'out', '--shard-size', '20kB']
        first = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        while not (self.folder / 'out/.recpack/plan.json').exists():
            time.sleep(0.0005)
        second = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(second.returncode, FAILURE)
        self.assertIn('another recpack is packing', second.stderr)
        self.assertEqual(first.wait(), 0)

    def test_a_cut_archive(self):
        archive = (CIFAR / 'cifar-10-python.tar.gz').read_bytes()
        (self.folder / 'cifar-10-python.tar.gz').write_bytes(archive[:len(archive) // 2])
        self.fails('pack', self.folder / 'cifar-10-python.tar.gz', self.folder / 'out',
                   '--from', 'cifar10', saying='cifar-10-python.tar.gz')


if __name__ == '__main__':
    unittest.main()
