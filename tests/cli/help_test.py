"""Tests that the examples of --help run and its flags are tested, and shell completion."""
import ast
import gzip
import os
import pathlib
import re
import select
import shutil
import subprocess
import tarfile
import time
import unittest

from object_server import ObjectServer
from support import CIFAR, FAILURE, FINDING, GOLDEN, RECPACK, CliTest

COMMANDS = ('audit', 'batches', 'bench', 'pack', 'ls', 'cat', 'sheet', 'verify', 'index', 'repair', 'cache', 'migrate',
            'completion')


class Help(CliTest):
    def test_the_version(self):
        self.assertRegex(self.run_recpack('--version').stdout, r'^\d+\.\d+\.\d+$')

    def test_lists_the_commands(self):
        text = self.run_recpack('--help').stdout
        for command in COMMANDS:
            self.assertRegex(text, rf'(?m)^ +{command} ')
        self.assertNotIn('stand-in', text)

    def make_what_examples_name(self):
        photos = self.folder / 'photos/all'
        photos.mkdir(parents=True)
        for name in 'real_420.jpg', 'rgb.png':
            shutil.copy(GOLDEN / 'image' / name, photos)
        (self.folder / 'cache/downloads').mkdir(parents=True)
        for folder in self.folder, self.folder / 'cache/downloads':
            shutil.copy(CIFAR / 'cifar-10-python.tar.gz', folder)
        (self.folder / 'list.csv').write_text(
            'file,kind,zip\nphotos/all/rgb.png,lion,01234\nphotos/all/real_420.jpg,ant,5\n')
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', '50')
        reviews = (self.folder / 'made/reviews.jsonl').read_bytes()
        (self.folder / 'reviews.json.gz').write_bytes(gzip.compress(reviews))
        for i in range(3):
            with tarfile.open(self.folder / f'samples-00{i}.tar', 'w') as archive:
                archive.add(photos / 'rgb.png', f'{i}.png')
        for name in 'others', 'damaged':
            self.pack(CIFAR / 'cifar-10-batches-py', out=name)
            (self.folder / name / 'manifest.json').unlink()
        self.pack(self.folder / 'photos', out='photo-shards')
        self.pack(CIFAR / 'cifar-10-batches-py', out='shards')
        for rank in '01':
            self.run_recpack('batches', self.folder / 'shards', '--recipe', 'cifar10-eval',
                             '--batch-size', '8', '--rank', rank, '--world-size', '2',
                             '--audit', self.folder / f'rank{rank}.audit')

    def test_every_example_runs(self):
        self.make_what_examples_name()
        (self.folder / 'bin').mkdir()
        (self.folder / 'bin/recpack').symlink_to(RECPACK)
        self.pack(CIFAR / 'cifar-10-batches-py', out='bucket/data')
        store = ObjectServer(self.folder)
        self.addCleanup(store.close)
        # `migrate` is Python's: tests/python/test_migrate.py
        env = {**os.environ, 'PATH': f'{self.folder}/bin:{os.environ["PATH"]}', 'RECPACK_PYTHON': 'true',
               'RECPACK_CACHE': str(self.folder / 'cache'), **store.environment()}
        for command in COMMANDS:
            text = self.run_recpack(command, '--help').stdout
            examples = re.findall(r'(?m)^ +((?:eval "\$\()?recpack .*)$', text)
            self.assertGreaterEqual(len(examples), 2, command)
            for example in examples:
                self.assertIn(f'recpack {command} ', example)
                shell = 'fish' if 'fish' in example else 'zsh' if 'zsh' in example else 'bash'
                if not shutil.which(shell):
                    continue
                shutil.rmtree(self.folder / 'shards', ignore_errors=True)
                shutil.rmtree(self.folder / 'saved', ignore_errors=True)
                if command == 'cat' and 'image/encoded' in example:
                    shutil.copytree(self.folder / 'photo-shards', self.folder / 'shards')
                    example = example.replace('--record 7', '--record 1')
                elif command != 'pack':
                    self.pack(CIFAR / 'cifar-10-batches-py', out='shards')
                done = subprocess.run([shell, '-c', example], cwd=self.folder, env=env, text=True,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, f'{example}\n{done.stdout}\n{done.stderr}')


class Migrate(CliTest):
    def test_passes_its_arguments_to_python(self):
        python = self.folder / 'python'
        python.write_text('#!/bin/sh\nshift 2\nprintf "<%s>" "$@"\nexit 1\n')
        python.chmod(0o755)
        env = {'RECPACK_PYTHON': str(python)}
        for words, expected in ((['train.py', '--write'], '<--write><--><train.py>'),
                                (['--', '-x.py'], '<--><-x.py>')):
            done = self.run_recpack('migrate', *words, code=FINDING, env=env)
            self.assertEqual(done.stdout, expected)

    def test_without_python(self):
        done = self.run_recpack('migrate', 'train.py', code=FAILURE, env={'RECPACK_PYTHON': '/nowhere/python'})
        self.assertIn('/nowhere/python: cannot be run', done.stderr)


def commands_and_flags(function):
    """Finds the commands and flags that a test function uses."""
    texts = [n.value for n in ast.walk(function)
             if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    calls = {n.func.attr for n in ast.walk(function)
             if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    commands = {c for c in COMMANDS if c in texts} | ({'pack'} & calls)
    if 'json' in calls:
        texts.append('--json')
    return commands, {flag for t in texts for flag in re.findall(r'^--[a-z-]+$', t)}


class Flags(CliTest):
    def test_every_flag_has_a_test(self):
        tested = {command: set() for command in COMMANDS}
        for path in pathlib.Path(__file__).parent.glob('*.py'):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    commands, flags = commands_and_flags(node)
                    for command in commands:
                        tested[command] |= flags
        for command in COMMANDS:
            text = self.run_recpack(command, '--help').stdout.split('Examples:')[0]
            flags = set(re.findall(r'(?m)^ +(?:-h,)?((?:--[a-z-]+,?)+)', text))
            flags = {flag for names in flags for flag in names.split(',')} - {'--help'}
            self.assertEqual(flags - tested[command], set(), command)


class Completion(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / 'bin').mkdir()
        self.env = {**os.environ, 'PATH': f'{self.folder}/bin:{os.environ["PATH"]}',
                    'HOME': str(self.folder), 'TERM': 'dumb'}

    def script(self, shell):
        path = self.folder / 'completion'
        path.write_text(self.run_recpack('completion', shell).stdout)
        return path

    def type_into(self, words, *lines, marker):
        """Types lines into an interactive shell until the marker is printed; returns the output.

        In place of recpack a program prints its arguments.
        """
        program = self.folder / 'bin/recpack'
        program.write_text('#!/bin/sh\nprintf "<%s>" "$@"\necho\n')
        program.chmod(0o755)
        (self.folder / 'a file.txt').touch()
        leader, follower = os.openpty()
        self.addCleanup(os.close, leader)
        with subprocess.Popen(words, stdin=follower, stdout=follower, stderr=follower,
                              cwd=self.folder, env=self.env, start_new_session=True) as shell:
            os.close(follower)
            for line in lines:
                os.write(leader, line.encode())
            text = ''
            deadline = time.time() + 60
            while marker not in text and time.time() < deadline:
                if select.select([leader], [], [], 1)[0]:
                    text += os.read(leader, 4096).decode(errors='replace')
            shell.kill()
        return text

    def test_bash(self):
        ask = ('COMP_WORDS=(recpack pack --shard); COMP_CWORD=2; _recpack; echo "${COMPREPLY[*]}";'
               'COMP_WORDS=(recpack ver); COMP_CWORD=1; _recpack; echo "${COMPREPLY[*]}"')
        done = subprocess.run(['bash', '-c', self.script('bash').read_text() + ask],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ['--shard-size', '--shards', 'verify'])

    def test_keys_pressed_in_bash(self):
        text = self.type_into(['bash', '--norc', '-i'], f'. {self.script("bash")}\n',
                              'recpack ver\t--dec\ta\\ f\t\n', marker='txt>')
        self.assertIn('<verify><--decode><a file.txt>', text)

    @unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
    def test_keys_pressed_in_zsh(self):
        text = self.type_into(['zsh', '-f', '-i'], f'. {self.script("zsh")}\n',
                              'recpack ver\t--dec\ta\\ f\t\n', marker='txt>')
        self.assertIn('<verify><--decode><a file.txt>', text)

    @unittest.skipUnless(shutil.which('fish'), 'fish is not installed')
    def test_fish(self):
        for line, completions in {
                'recpack ver': ['verify'],
                'recpack pack --shard-': ['--shard-size'],
                'recpack verify --dec': ['--decode']}.items():
            done = subprocess.run(['fish', '--no-config', '-c', f'. {self.script("fish")}; '
                                   f'complete -C "{line}"'], capture_output=True, text=True,
                                  check=True, env=self.env)
            self.assertEqual([c.split('\t')[0] for c in done.stdout.splitlines()], completions)


if __name__ == '__main__':
    unittest.main()
