"""Tests that rectrain --help describes each flag, and that each flag has a test."""
import os
import pathlib
import re
import subprocess
import unittest

RECTRAIN = os.environ['RECTRAIN']
COMMANDS = ('train', 'eval', 'sweep')
TESTS = ('bad_training_test.py', 'train_test.py', 'train_images_test.py', 'eval_test.py', 'ranks_test.py', 'sweep_test.py',
         'reviews_test.py')


# Model size flags, which train_test generates.
NAMED = ('--dense', '--dims', '--filters', '--kernel', '--latent', '--factors')


def run(*words):
    return subprocess.run([RECTRAIN, *words], capture_output=True, text=True, timeout=120,
                          check=False)


def flags(command):
    """The flags by name, with their help text on one line."""
    text = run(command, '--help').stdout.split('Examples:')[0]
    found = re.findall(r'(?m)^ +((?:-\w,)?(?:--[a-z0-9-]+,?)+)([^\n]*(?:\n {20,}[^\n]*)*)', text)
    return {name: ' '.join(said.split()) for names, said in found
            for name in re.findall(r'--[a-z0-9-]+', names)}


class RectrainHelp(unittest.TestCase):
    def test_lists_the_commands(self):
        done = run('--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        for command in COMMANDS:
            self.assertRegex(done.stdout, rf'(?m)^ +{command} ')

    def test_every_flag_is_described(self):
        for command in COMMANDS:
            done = run(command, '--help')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertIn('DATA', done.stdout)
            self.assertIn('--json', flags(command))
            for flag, said in flags(command).items():
                with self.subTest(f'{command} {flag}'):
                    # A sentence follows the value's type and default.
                    self.assertRegex(said, r'[A-Z0-9].*\w\w.*\w|Print this help')

    def test_every_flag_has_a_test(self):
        folder = pathlib.Path(__file__).parent
        tests = ''.join((folder / name).read_text() for name in TESTS)
        for command in COMMANDS:
            for flag in flags(command):
                with self.subTest(f'{command} {flag}'):
                    self.assertTrue(re.search(rf'[\' ]{flag}[\'= ]', tests) or
                                    flag in NAMED, 'no test gives it')

    def test_a_flag_that_is_none_is_refused(self):
        for command in COMMANDS:
            needed = ['--checkpoint', 'run1'] if command == 'eval' else []
            done = run(command, 'data', *needed, '--no-such-flag')
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn('--no-such-flag', done.stderr)


if __name__ == '__main__':
    unittest.main()
