"""Tests that docs/reference/json.md describes what the commands print with --json, and every such command."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from support import CIFAR, FINDING, GOLDEN, CliTest

RECTRAIN = os.environ.get('RECTRAIN', '')
PAGE = pathlib.Path(__file__).parents[2] / 'docs/reference/json.md'
SHAPES = {title: json.loads(block) for title, block in
          re.findall(r'(?ms)^### (.*?)$.*?^```json\n(.*?)^```', PAGE.read_text('utf-8'))}
TYPES = {'string': str, 'integer': int, 'number': (int, float), 'boolean': bool, 'null': type(None)}


def is_of(kind, value):
    return isinstance(value, TYPES[kind]) and (kind == 'boolean' or not isinstance(value, bool))


def differences(shape, value, where='$'):
    """What of a value is not as its shape says."""
    if isinstance(shape, str):
        if not any(is_of(kind, value) for kind in shape.split('|')):
            yield f'{where}: {value!r} is not {shape}'
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f'{where}: {value!r} is not a list'
            return
        for i, each in enumerate(value):
            yield from differences(shape[0], each, f'{where}[{i}]')
    elif not isinstance(value, dict):
        yield f'{where}: {value!r} is not an object'
    else:
        known = {name.removesuffix('?'): inner for name, inner in shape.items()}
        for name in shape:
            if name != '*' and not name.endswith('?') and name not in value:
                yield f'{where}: lacks {name}'
        for name, each in value.items():
            inner = known.get(name, known.get('*'))
            if inner is None:
                yield f'{where}: has {name}, which the page has not'
            else:
                yield from differences(inner, each, f'{where}.{name}')


class Page(unittest.TestCase):
    def test_differences_are_found(self):
        shape = {'a': 'integer', 'b?': ['string|null'], 'c?': {'*': 'number'}}
        self.assertEqual(list(differences(shape, {'a': 1, 'b': ['x', None], 'c': {'any': 1.5}})), [])
        for wrong in ({}, {'a': True}, {'a': 1.5}, {'a': 1, 'b': 'x'}, {'a': 1, 'b': [1]}, {'a': 1, 'd': 1},
                      {'a': 1, 'c': {'any': 'x'}}, []):
            self.assertEqual(len(list(differences(shape, wrong))), 1, wrong)

    def test_every_command_is_there(self):
        for program, path in ('recpack', os.environ['RECPACK']), ('rectrain', RECTRAIN):
            if not path:
                continue
            text = subprocess.run([path, '--help'], capture_output=True, text=True, check=True).stdout
            for command in re.findall(r'(?m)^  ([a-z]+) {2,}', text.split('Subcommands:')[1]):
                said = subprocess.run([path, command, '--help'], capture_output=True, text=True, check=True).stdout
                if '--json' in said and command != 'sweep':  # docs/reference/training.md
                    self.assertIn(f'{program} {command}', SHAPES)


class Json(CliTest):
    def setUp(self):
        super().setUp()
        self.pack(CIFAR / 'cifar-10-batches-py')
        self.out = self.folder / 'out'

    def fits(self, title, *values):
        """Each value is as the page says."""
        self.assertNotEqual(values, ())
        for value in values:
            self.assertEqual(list(differences(SHAPES[title], value)), [], title)

    def lines(self, *words, **options):
        return [json.loads(line) for line in self.run_recpack(*words, '--json', **options).stdout.splitlines()]

    def test_pack(self):
        bad = self.folder / 'bad'
        shutil.copytree(GOLDEN / 'image', bad / 'ant', ignore=lambda _, names: [n for n in names if n != 'rgb.png'])
        (bad / 'ant/no.jpg').write_bytes(b'no picture')
        skipping = self.pack(bad, '--check-images', '--on-error', 'skip', '--max-skip', '60%', out='skipped')
        self.assertEqual(len(skipping['skipped']), 1)
        self.fits('recpack pack', skipping, self.pack(CIFAR / 'cifar-10-batches-py', '--no-digest', out='other'))
        self.fits('recpack pack --dry-run', self.pack(CIFAR / 'cifar-10-batches-py', '--dry-run', out='third'))

    def test_looking(self):
        self.pack(self.class_folder(), '--shard-size', '8kB', '--task', '0/3', out='parts')
        listed = [self.json('ls', self.out), self.json('ls', self.folder / 'photos')]
        self.fits('recpack ls', *listed)
        self.assertIn('classes', listed[0]['splits']['train'])
        self.fits('recpack index', self.json('index', self.out, '--out', self.folder))
        self.fits('recpack sheet', self.json('sheet', self.out, self.folder / 'sheet.png'))
        self.fits('recpack cat', *self.lines('cat', self.out, '--record', '3'))
        self.fits('recpack cache', self.json('cache', env={'RECPACK_CACHE': str(self.folder)}),
                  self.json('cache', env={'RECPACK_CACHE': str(self.folder), 'RECPACK_CACHE_BYTES': '1GB'}))

    def test_damage(self):
        self.damage_records(5, 6)
        found = self.json('verify', self.out, code=FINDING)
        self.assertTrue(found['findings'])
        self.fits('recpack verify', found)
        saved = self.json('repair', self.out, self.folder / 'saved', code=FINDING)
        self.assertTrue(saved['lost'])
        self.fits('recpack repair', saved)

    def test_loading(self):
        words = 'batches', self.out, '--recipe', 'cifar10-eval', '--batch-size', 8
        audit = self.folder / 'audit'
        self.fits('recpack batches', *self.lines(*words, '--limit', 2), *self.lines(*words, '--ids', '--audit', audit),
                  *self.lines(*words, '--ids', '--limit', 2, '--mix', f'{self.out}=1'))
        self.fits('recpack audit', self.json('audit', self.out, audit))
        bench = 'bench', self.out, '--recipe', 'cifar10-train', '--threads', 1, '--seconds', 0.05
        self.fits('recpack bench', self.json(*bench), self.json(*bench, '--check', '--cache', 'records:1MB'))

    @unittest.skipUnless(RECTRAIN, 'built without rectrain')
    def test_training(self):
        def rectrain(*words):
            done = subprocess.run([RECTRAIN, *map(str, words), '--threads', '1', '--json'], capture_output=True, text=True,
                                  timeout=120, check=True)
            return json.loads(done.stdout)
        train = 'train', self.out, '--width', 4, '--batch-size', 8, '--epochs', 1
        run = '--checkpoint', self.folder / 'run'
        self.fits('rectrain train', rectrain(*train, '--checkpoints', self.folder / 'run'),
                  rectrain(*train, '--no-evaluation', '--input', 'real,cached', '--timed-steps', 1, '--timed-rounds', 1))
        self.fits('rectrain eval', rectrain('eval', self.out, *run))
        self.fits('rectrain eval --int8', rectrain('eval', self.out, *run, '--int8', '--batch-size', 8))
        self.fits('rectrain eval --image', rectrain('eval', *run, '--image', GOLDEN / 'image/rgb.png'),
                  rectrain('eval', self.out, *run, '--image', GOLDEN / 'image/rgb.png'))


if __name__ == '__main__':
    unittest.main()
