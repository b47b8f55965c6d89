"""Tests messages and remaining files after errors of recpack."""
import os
import pathlib
import random
import resource
import signal
import subprocess
import time
import unittest

from support import CIFAR, FAILURE, RECPACK, CliTest


class Errors(CliTest):
    def test_usage(self):
        self.fails(saying='subcommand is required')
        self.fails('pakc', saying="did you mean 'pack'?")
        self.fails('xyzzy', saying='choose one of: pack, ')
        self.fails('ls', CIFAR, '--jsn', saying='unknown option --jsn; did you mean --json?')
        self.fails('ls', CIFAR, '--xyzzy=3', saying='unknown option --xyzzy\n')
        self.fails('ls', CIFAR, 'other', saying='other')
        self.fails('batches', CIFAR, '--recipe', 'cifar10-eval', '--seed', 1, '--seed', 2,
                   saying='--seed was given 2 times: give it once')
        self.fails('batches', CIFAR, '--recipe', saying='--recipe needs a value (TEXT)')
        self.fails('pack', saying='SRC is required')
        self.fails('pack', CIFAR, self.folder / 'out', '--from', 'hdf5', saying='hdf5')
        self.fails('pack', CIFAR, self.folder / 'out', '--shard-size', 'big', saying='not a size')
        self.fails('pack', CIFAR, self.folder / 'out', '--task', '4/4', saying='not a task')
        self.fails('pack', CIFAR, self.folder / 'out', '--max-skip', 'all', saying='not a share')

    def test_help_and_version_in_each_spelling(self):
        self.assertEqual(self.run_recpack('-V').stdout, self.run_recpack('--version').stdout)
        self.assertEqual(self.run_recpack('help', 'ls').stdout, self.run_recpack('ls', '--help').stdout)
        self.assertEqual(self.run_recpack('help').stdout, self.run_recpack('--help').stdout)
        self.fails('help', 'pakc', saying="did you mean 'pack'?")

    def test_a_reader_that_goes_ends_the_program_quietly(self):
        self.pack(CIFAR)
        shell = f'{RECPACK} cat {self.folder}/out --record 0:64 --json | head -c 1; echo ${{PIPESTATUS[0]}}'
        done = subprocess.run(['bash', '-c', shell], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn(int(done.stdout[1:]), (0, 128 + signal.SIGPIPE))
        self.assertEqual(done.stderr, '')
        with open('/dev/full', 'w') as full:
            done = subprocess.run([RECPACK, 'ls', self.folder / 'out'], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn('cannot write all of the output', done.stderr)

    def test_a_missing_source(self):
        self.fails('pack', self.folder / 'nothing', self.folder / 'out',
                   saying=['nothing', 'no such file'])
        self.assertFalse((self.folder / 'out').exists())

    def test_something_unknown(self):
        (self.folder / 'a.xyz').write_bytes(b'what is this')
        self.fails('pack', self.folder / 'a.xyz', self.folder / 'out', saying='--from')

    def test_tables_are_for_python(self):
        (self.folder / 'rows.parquet').write_bytes(b'PAR1' + bytes(100) + b'PAR1')
        self.fails('pack', self.folder / 'rows.parquet', self.folder / 'out', saying=['rows.parquet', 'load_dataset'])

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
        photos = self.class_folder(files=60)
        (photos / 'bee/last.bin').write_bytes(random.Random(3).randbytes(50_000))
        words = ['pack', photos, self.folder / 'out', '--shuffle', 'off', '--shard-size', '20kB',
                 '--threads', '1']

        def no_big_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        self.fails(*words, saying=['cannot write', 'File too large'], preexec_fn=no_big_files)
        self.assertEqual([n for n in os.listdir(self.folder / 'out/.recpack') if 'tmp' in n], [])
        complete = self.shards()
        inodes = {name: (self.folder / 'out' / name).stat().st_ino for name in complete}
        self.assertGreaterEqual(len(complete), 3)
        self.assertNotIn('manifest.json', complete)
        self.run_recpack(*words)
        after = self.shards()
        self.equal_shards(complete, {name: after[name] for name in complete})
        self.assertEqual({name: (self.folder / 'out' / name).stat().st_ino for name in complete},
                         inodes)  # not packed again
        self.assertGreater(len(after), len(complete))
        self.run_recpack('verify', self.folder / 'out')

    def held_packer(self, photos):
        """Starts a packer that finishes its plan and then waits before its second shard.

        The index of the first one is written to a named pipe that nobody reads.
        """
        (self.folder / 'out/.recpack').mkdir(parents=True)
        plan = self.json('pack', photos, self.folder / 'out', '--shuffle', 'off', '--shards', '3',
                         '--dry-run')
        first = pathlib.Path(plan['shards'][0]['path']).name
        self.pipe = self.folder / 'out/.recpack' / (first + '.recindex')
        os.mkfifo(self.pipe)
        packer = subprocess.Popen(
            [RECPACK, 'pack', photos, self.folder / 'out', '--shuffle', 'off', '--shards', '3',
             '--threads', '1', '--no-sync'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(packer.kill)
        deadline = time.time() + 60
        while not (self.folder / 'out/.recpack/plan.json').exists():
            self.assertIsNone(packer.poll())
            self.assertLess(time.time(), deadline, 'the packer makes no plan')
            time.sleep(0.001)
        return packer

    def release(self, packer):
        """Lets the waiting packer continue; returns its exit code and output."""
        # Renamed, so that the packer does not open the pipe again.
        pipe = self.pipe.rename(self.folder / 'pipe')
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        _, text = packer.communicate(timeout=60)
        os.close(reader)
        return packer.returncode, text

    def test_a_file_that_changed_since_it_was_listed(self):
        photos = self.class_folder()
        packer = self.held_packer(photos)
        last = max((photos / 'bee').iterdir())
        last.write_bytes(b'x' * 5000)
        code, text = self.release(packer)
        self.assertEqual(code, FAILURE)
        self.assertIn(f'{last}: changed after it was opened', text)

    def test_two_packers_at_once(self):
        photos = self.class_folder()
        first = self.held_packer(photos)
        self.fails('pack', photos, self.folder / 'out', '--shuffle', 'off', '--shards', '3',
                   saying=[str(self.folder / 'out'), 'another recpack is packing'])
        self.assertIsNone(first.poll())
        self.assertEqual(self.release(first)[0], 0)

    def test_a_cut_archive(self):
        archive = (CIFAR / 'cifar-10-python.tar.gz').read_bytes()
        (self.folder / 'cifar-10-python.tar.gz').write_bytes(archive[:len(archive) // 2])
        self.fails('pack', self.folder / 'cifar-10-python.tar.gz', self.folder / 'out',
                   '--from', 'cifar10', saying='cifar-10-python.tar.gz')


if __name__ == '__main__':
    unittest.main()
