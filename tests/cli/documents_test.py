"""Runs the commands that README and docs show, on small data."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from support import CIFAR, GOLDEN, RECPACK

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'house'))
from commands_test import COMMAND  # noqa: E402

# Commands that are not run here: what they need, and the test that runs them where it is.
ELSEWHERE = {r's3://': 'an object store: cli.urls, cli.store_pack, cli.store_source, tests/python/test_bucket.py',
             r'cuda:': 'a GPU: bench/gpu.sh',
             r'\bsrun\b': 'Slurm: tests/interop/test_slurm.py',
             r'\btorchrun\b': 'PyTorch: tests/python/test_elastic.py',
             r'\brecpack migrate\b': 'the Python package: tests/python/test_migrate.py',
             r'\bpip install\b|recpack_io\.': 'the Python package: tests/python',
             r'\brecprobe doctor\b': 'a minute: cli.doctor',
             r'\brecprobe gain\b': 'a minute: cli.gain',
             r'\brecpack cache\b': 'a cache: cli.urls',
             r'--log |\brecprobe log\b': "trackers' packages: cli.log, tests/interop/test_trackers.py"}
# What keeps a training short, where the command does not say otherwise.
SHORT = {'--epochs': '1', '--batch-size': '4', '--width': '4', '--image-size': '32', '--max-tokens': '16'}


def shown(path):
    """Lines of code blocks that name a command of ours, whole, without comments and prompts."""
    text = re.sub(r'\\\n\s*', ' ', path.read_text('utf-8'))
    fenced = False
    for line in text.splitlines():
        if line.startswith('```'):
            fenced = not fenced
        elif (fenced or line.startswith('    ')) and COMMAND.search(line):
            yield re.sub(r'\[(--[^\]]*)\]', '', re.split(r'\s#\s', line.strip())[0].removeprefix('$ ')).strip()


def documents():
    paths = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
    return [path for path in paths if 'decisions' not in path.parts and 'cli' not in path.parts]


def shortened(command):
    """The command with small sizes, in words for a shell."""
    command = re.sub(r'--epochs \d+', '--epochs 1', command)
    command = re.sub(r'--batch-size \d+', '--batch-size 4', command)
    command = re.sub(r'--image-size \d+', '--image-size 32', command)
    command = re.sub(r'--seconds \d+', '--seconds 1', command)
    command = re.sub(r'--max-tokens \d+', '--max-tokens 16', command)
    command = command.replace('127.0.0.1:9401', '127.0.0.1:0').replace('mpirun -n 8', 'mpirun -n 2')
    for program in ('train', 'sweep', 'eval'):
        if f'rectrain {program}' not in command:
            continue
        flags = ['--batch-size']
        if program != 'eval':
            flags += ['--max-tokens'] if 'deepconn' in command else ['--width']
            flags += ['--epochs'] if program == 'train' else []
            if re.search(r'photos|tars|resnet50', command):
                flags.append('--image-size')
        more = ''.join(f' {flag} {SHORT[flag]}' for flag in flags if flag not in command and not (
            flag == '--batch-size' and '--image ' in command))
        quote = "'" if 'sh -c' in command else ''
        command = command.removesuffix(quote) + more + quote
    if '.onnx' in command:
        command += ' --recipe imagenet-eval --split train'  # a small one, which the size does not tell
    return command


class Documents(unittest.TestCase):
    """The folder has what the documents speak of; `shards` is a data set for some, and a folder of them for others."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='recpack-documents-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        programs = cls.folder / 'bin'
        programs.mkdir()
        for name in ('RECPACK', 'RECPROBE', 'RECTRAIN'):
            (programs / name.lower()).symlink_to(os.environ[name])
        (programs / 'python').symlink_to(sys.executable)
        if os.environ.get('MPIRUN'):
            (programs / 'mpirun').write_text(
                f'#!/bin/sh\nshift 2\nexec {os.environ["MPIRUN"]} 2 "$@"\n')
            (programs / 'mpirun').chmod(0o755)
        cls.env = {**os.environ, 'PATH': f'{programs}:{os.environ["PATH"]}', 'OMP_NUM_THREADS': '1'}
        cls.make_sources()
        cls.make_data()

    @classmethod
    def make_sources(cls):
        shutil.copytree(CIFAR / 'cifar-10-batches-py', cls.folder / 'cifar10' / 'cifar-10-batches-py')
        with tarfile.open(cls.folder / 'cifar-10-python.tar.gz', 'w:gz') as archive:
            archive.add(CIFAR / 'cifar-10-batches-py', 'cifar-10-batches-py')
        for number in range(8):
            kind = cls.folder / 'photos' / ('train' if number < 4 else 'val') / f'class{number % 4}'
            kind.mkdir(parents=True, exist_ok=True)
            shutil.copy(GOLDEN / 'image' / 'real_420.jpg', kind / f'{number}.jpg')
        for kind in 's16', 'f32':
            (cls.folder / 'sounds' / kind).mkdir(parents=True)
            shutil.copy(GOLDEN / 'audio' / f'{kind}.wav', cls.folder / 'sounds' / kind)
        (cls.folder / 'tars').mkdir()
        for number in range(4):
            with tarfile.open(cls.folder / 'tars' / f'x-{number:03}.tar', 'w') as archive:
                for i in range(4):
                    (cls.folder / 'cls').write_text(str(i))
                    archive.add(GOLDEN / 'image' / 'real_420.jpg', f'{number}{i}.jpg')
                    archive.add(cls.folder / 'cls', f'{number}{i}.cls')
        shutil.copy(GOLDEN / 'image' / 'real_420.jpg', cls.folder / 'cat.jpg')
        shutil.copy(GOLDEN / 'image' / 'rgb.png', cls.folder / 'dog.png')
        shutil.copy(GOLDEN / 'onnx' / 'residual.onnx', cls.folder / 'resnet50.onnx')
        shutil.copy(GOLDEN / 'kineto' / 'cpu.json.gz', cls.folder / 'trace.json.gz')
        shutil.copy(GOLDEN / 'nsight' / 'two_gpus.sqlite', cls.folder / 'report.sqlite')
        shutil.copy(GOLDEN / 'xplane' / 'cpu.xplane.pb', cls.folder / 'host.xplane.pb')
        (cls.folder / 'labels.txt').write_text(''.join(f'class {i}\n' for i in range(10)))
        (cls.folder / 'train.py').write_text('import time\nfor step in range(30):\n    time.sleep(0.01)\n')

    @classmethod
    def make_data(cls):
        cls.shell('recpack stand-in --kind reviews --records 400 reviews && gzip -c reviews/* > reviews.json.gz')
        cls.shell('recpack pack cifar10 sets/cifar10 --no-sync')
        cls.shell('recpack pack photos sets/photos --no-sync')
        cls.shell('recpack pack reviews.json.gz sets/reviews --no-sync --max-tokens 16')
        five = cls.folder / 'five'
        for number in range(10):
            (five / f'{number % 5}').mkdir(parents=True, exist_ok=True)
            shutil.copy(cls.folder / 'dog.png', five / f'{number % 5}' / f'{number}.png')
        cls.shell('recpack pack five sets/imagenet --no-sync')
        cls.shell('rectrain train sets/cifar10 --epochs 1 --batch-size 4 --width 4 --threads 1 --checkpoints run1')
        cls.shell('rectrain eval sets/cifar10 --checkpoint run1 --int8 --save-ranges ranges.json --batch-size 4')
        for report in ('found', 'before', 'after', 'runs/7/rank0', 'runs/7/rank1', 'reports/4711/0'):
            cls.shell(f'mkdir -p {report} && recprobe run --report {report} -- '
                      'rectrain train sets/cifar10 --epochs 2 --batch-size 4 --width 4 --threads 1')

    @classmethod
    def shell(cls, command, good=(0,)):
        done = subprocess.run(['bash', '-c', command], cwd=cls.folder, env=cls.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)
        if done.returncode not in good:
            raise AssertionError(f'{command}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}')
        return done

    def place(self, command):
        """Puts at `shards`, or where the command packs to, what it needs."""
        shards = self.folder / 'shards'
        if shards.is_symlink():
            shards.unlink()
        shutil.rmtree(shards, ignore_errors=True)
        for name in ['sweep'] + ['found'] * ('--report found' in command):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        if 'recpack pack' in command:
            return
        data = 'sets' if 'shards/' in command else 'sets/reviews' if 'deepconn' in command else 'sets/cifar10'
        shards.symlink_to(self.folder / data)

    def run_shown(self, command):
        self.place(command)
        command = shortened(command).replace('/shared/', f'{self.folder}/').replace('$SLURM_JOB_ID', '4711')
        if '--pid 4711' in command:
            command = f'python train.py & {command.replace("4711", "$!")}; code=$?; wait; exit $code'
        # A finding, such as more waiting than --fail-above, is 1.
        self.shell(command, good=(0, 1) if '--fail-above' in command else (0,))

    def test_the_commands_of_each_document(self):
        reasons, ran = set(), set()
        for path in documents():
            for command in shown(path):
                reason = next((pattern for pattern in ELSEWHERE if re.search(pattern, command)), None)
                if command.startswith('mpirun') and not os.environ.get('MPIRUN'):
                    continue
                if reason is not None:
                    reasons.add(reason)
                elif command not in ran:
                    ran.add(command)
                    with self.subTest(path=str(path.relative_to(ROOT)), command=command):
                        self.run_shown(command)
        self.assertGreater(len(ran), 40)
        self.assertEqual(reasons, set(ELSEWHERE), 'a reason that no command needs any more')

    def test_a_command_that_fails_is_found(self):
        with self.assertRaisesRegex(AssertionError, 'no such file'):
            self.run_shown('recpack ls nowhere')


if __name__ == '__main__':
    unittest.main()
