"""The commands of docs/guide/bucket.md in order, against rclone's object store, with a training that is killed and goes on.

RECPACK_STORES names the folder of the `stores` environment's programs, RECPACK the package's own.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from support import CIFAR, ROOT, InFolder, free_port, main, serve

PAGE = ROOT / 'docs' / 'guide' / 'bucket.md'
KEY, SECRET = 'TESTKEY', 'test/secret+key'
TRAINING = 'python cifar10_torch.py s3://bucket/cifar10'
SHORT = ' --batch-size 4 --save-every 1'  # the golden data set has 64 samples


def commands():
    """Indented lines of the page that are for a shell."""
    for line in PAGE.read_text('utf-8').splitlines():
        if re.match(r'    (export|python|rec\w+) ', line):
            yield line.strip()


class Bucket(InFolder):
    def setUp(self):
        super().setUp()
        (self.folder / 'store' / 'bucket').mkdir(parents=True)
        shutil.copytree(CIFAR, self.folder / 'cifar10' / CIFAR.name)
        shutil.copy(ROOT / 'examples' / 'python' / 'cifar10_torch.py', self.folder)
        programs = self.folder / 'bin'
        programs.mkdir()
        (programs / 'python').write_text(f'#!/bin/sh\nexec {sys.executable} -u "$@"\n')
        (programs / 'python').chmod(0o755)
        port = free_port()
        mine = {name: value for name, value in os.environ.items() if not name.startswith(('AWS_', 'RECPACK_'))}
        self.env = {**mine, 'OMP_NUM_THREADS': '1', 'HOME': str(self.folder), 'RECPACK_CACHE': str(self.folder / 'cache'),
                    'AWS_ENDPOINT_URL': f'http://127.0.0.1:{port}',
                    'PATH': f'{programs}:{pathlib.Path(os.environ["RECPACK"]).parent}:{os.environ["PATH"]}'}
        serve(self, [f'{os.environ["RECPACK_STORES"]}/rclone', 'serve', 's3', '--addr', f'127.0.0.1:{port}',
                     '--auth-key', f'{KEY},{SECRET}', str(self.folder / 'store')], port)

    def run_command(self, command):
        done = subprocess.run(['sh', '-c', command], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, 0, f'{command}\n{done.stdout}\n{done.stderr}')
        self.said = done.stderr
        return done.stdout

    def export(self, command):
        given = {'...': iter((KEY, SECRET))}
        for name, value in re.findall(r'(\w+)=(\S+)', command):
            self.env[name] = next(given[value]) if value in given else value

    def killed(self, command, step):
        """Runs a training, and kills it when it has said that it came to a step, or soon after."""
        said = self.folder / 'said'
        with open(said, 'w', encoding='utf-8') as file, subprocess.Popen(
                ['sh', '-c', f'exec {command}'], cwd=self.folder, env=self.env, stdout=file, stderr=file) as training:
            end = time.monotonic() + 100
            while f' step {step} ' not in said.read_text('utf-8') and training.poll() is None and time.monotonic() < end:
                time.sleep(0.001)
            training.send_signal(signal.SIGKILL)
        self.assertEqual(training.returncode, -signal.SIGKILL, said.read_text('utf-8'))

    def losses(self, text):
        return [line for line in text.splitlines() if ' loss ' in line]

    def test_each_command_of_the_page(self):
        seen = []
        for command in commands():
            seen.append(command)
            if command.startswith('export '):
                self.export(command)
                continue
            words = command + SHORT if TRAINING in command else command
            if command == f'{TRAINING} --epochs 2':
                self.killed(words, 5)
            out = self.run_command(words)
            if command == f'{TRAINING} --epochs 2':
                gone_on = out.splitlines()
                self.assertRegex(gone_on[0], r'^goes on behind step \d+$')
            elif command.startswith('recpack ls '):
                self.assertIn('train', out)
            elif command.startswith('recprobe run '):
                self.assertRegex(self.said, r'(not|moderately|highly) input-bound|undecided')
            elif command == 'recpack cache':
                self.assertRegex(out, r'records +1 object')
            elif command.endswith('second.pt'):
                whole = self.losses(out)
        self.assertEqual(len(seen), 11, seen)
        behind = int(gone_on[0].split()[-1])
        self.assertIn(behind, range(4, len(whole)))
        self.assertEqual(self.losses('\n'.join(gone_on)), whole[behind:])


if __name__ == '__main__':
    main()
