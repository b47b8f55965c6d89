"""The programs that the wheel brings: recpack and recprobe."""
import json
import pathlib
import signal
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from unittest import mock

import recpack_io
from support import CIFAR, InFolder, ROOT, main

sys.path.append(str(ROOT / 'tests/cli'))
from figures_of_time import judges_time  # noqa: E402

PROGRAMS = pathlib.Path(sys.executable).parent


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)


class Programs(InFolder):
    def test_package_and_programs_have_one_version(self):
        self.assertEqual(recpack_io.__version__, run(PROGRAMS / 'recpack', '--version').stdout.strip())
        with self.assertRaisesRegex(AttributeError, "no attribute 'version'"):
            recpack_io.version

    def test_version_of_files_without_metadata(self):
        with mock.patch('importlib.metadata.version', side_effect=PackageNotFoundError('recpack-io')):
            self.assertEqual(recpack_io.__version__, '0+unknown')

    def test_recpack_packs(self):
        done = run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(PROGRAMS / 'recpack', 'verify', self.folder / 'shards').returncode, 0)
        self.assertEqual(run(PROGRAMS / 'recpack', 'verify', self.folder / 'no').returncode, 2)

    def test_a_reader_that_goes_ends_it_quietly(self):
        run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards')
        shell = f'{PROGRAMS}/recpack cat {self.folder}/shards --record 0:64 --json | head -c 1; echo ${{PIPESTATUS[0]}}'
        done = run('bash', '-c', shell)
        self.assertEqual(done.stderr, '')
        self.assertIn(int(done.stdout[1:]), (0, 128 + signal.SIGPIPE))

    @judges_time  # whether batches come in time
    def test_recprobe_watches_a_loop_in_python(self):
        run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards')
        loop = ('import recpack_io, time\n'
                f'loader = recpack_io.Loader(recpack_io.open({str(self.folder / "shards")!r}), '
                '"cifar10-train", batch_size=4)\n'
                'for _ in range(4):\n    for batch in loader:\n        time.sleep(0.01)\n')
        done = run(PROGRAMS / 'recprobe', 'run', '--json', '--', sys.executable, '-c', loop)
        self.assertEqual(done.returncode, 0, done.stderr)
        verdict = json.loads(done.stdout)
        self.assertGreater(verdict['steps'], 10, verdict)
        self.assertIn(verdict['verdict'], ('not input-bound', 'undecided'))

    def test_recprobe_gain_of_a_loop_in_python(self):
        run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards')
        loop = ('import recpack_io, sys, time\n'
                f'loader = recpack_io.Loader(recpack_io.open({str(self.folder / "shards")!r}), '
                '"cifar10-train", batch_size=4)\n'
                'try:\n    loader.state_dict()\n'
                'except recpack_io.UnsupportedError as error:\n'
                '    print(recpack_io.is_gain_run(), error, file=sys.stderr)\n'
                'while True:\n    for batch in loader:\n        time.sleep(0.002)\n')
        done = run(PROGRAMS / 'recprobe', 'gain', '--json', '--seconds', '20', '--block-steps', '8',
                   '--precision', '50', '--', sys.executable, '-c', loop)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('True this run is an experiment of recprobe gain', done.stderr)
        gain = json.loads(done.stdout)
        self.assertGreater(gain['rounds'], 0, gain)
        self.assertEqual(gain['trainers'], 1, gain)

    def test_other_runs_are_no_experiments(self):
        run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards')
        self.assertFalse(recpack_io.is_gain_run())
        loader = recpack_io.Loader(recpack_io.open(self.folder / 'shards'), 'cifar10-train',
                                   batch_size=4)
        self.assertIn('token', loader.state_dict())


if __name__ == '__main__':
    main()
