"""Tests that docs/reference/json.md describes what the commands print with --json, and every such command."""
import json
import os
import re
import shutil
import subprocess
import unittest

from json_page import FitsPage, SHAPES, differences, references, unseen
from store_case import StoreCase
from support import CIFAR, FINDING, GOLDEN, CliTest

RECTRAIN = os.environ.get('RECTRAIN', '')
PROGRAMS = {'recpack': os.environ['RECPACK'], 'recprobe': os.environ['RECPROBE'], 'rectrain': RECTRAIN}


def commands_with_json():
    """"PROGRAM COMMAND" of each command whose help has --json."""
    for program, path in PROGRAMS.items():
        if not path:
            continue
        text = subprocess.run([path, '--help'], capture_output=True, text=True, check=True).stdout
        for command in re.findall(r'(?m)^  ([a-z-]+) {2,}', text.split('Subcommands:')[1]):
            said = subprocess.run([path, command, '--help'], capture_output=True, text=True, check=True).stdout
            if '--json' in said:
                yield f'{program} {command}'


class Page(unittest.TestCase):
    def test_differences_are_found(self):
        shape = {'a': 'integer', 'b?': ['string|null'], 'c?': {'*': 'number'}}
        self.assertEqual(list(differences(shape, {'a': 1, 'b': ['x', None], 'c': {'any': 1.5}})), [])
        for wrong in ({}, {'a': True}, {'a': 1.5}, {'a': 1, 'b': 'x'}, {'a': 1, 'b': [1]}, {'a': 1, 'd': 1},
                      {'a': 1, 'c': {'any': 'x'}}, []):
            self.assertEqual(len(list(differences(shape, wrong))), 1, wrong)

    def test_differences_from_named_shapes_are_found(self):
        shape = {'...': '@interval', 'a': '@interval|null', 'b?': ['@interval']}
        whole = {'value': 1, 'low': 0.5, 'high': 2}
        self.assertEqual(list(differences(shape, {**whole, 'a': None, 'b': [whole, whole]})), [])
        for wrong in ({'a': None, 'value': 1, 'low': 1}, {**whole, 'a': {'value': 1}}, {**whole, 'a': 1}, {**whole},
                      {**whole, 'a': None, 'c': 1}, {**whole, 'a': None, 'low': 'x'},
                      {**whole, 'a': None, 'b': [{**whole, 'high': None}]}):
            self.assertEqual(len(list(differences(shape, wrong))), 1, wrong)

    def test_what_no_value_has_is_found(self):
        shape = {'a?': [{'b': 'integer', 'c?': 'integer'}], 'd': ['string'], 'e?': {'*': 'integer'}}
        self.assertEqual(list(unseen(shape, [{'d': []}, {'a': [{'b': 1}], 'd': []}])), ['$.a[].c', '$.d[]', '$.e'])
        self.assertEqual(list(unseen(shape, [{'d': ['x']}, {'a': [{'b': 1, 'c': 1}], 'd': [], 'e': {'x': 1}}])), [])

    def test_every_command_is_there(self):
        self.assertEqual([command for command in commands_with_json() if command not in SHAPES], [])

    def test_shapes_are_of_commands_or_named_by_others(self):
        named = {name for shape in SHAPES.values() for name in references(shape)}
        self.assertLessEqual(named, set(SHAPES))
        self.assertEqual({title for title in SHAPES if title.split()[0] not in ('recpack', 'recprobe', 'rectrain')}, named)


class Json(FitsPage, CliTest):
    def setUp(self):
        super().setUp()
        self.pack(CIFAR / 'cifar-10-batches-py')
        self.out = self.folder / 'out'

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
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 40)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        self.fits('recpack ls', *(self.json('ls', self.folder / name) for name in ('out', 'photos', 'parts', 'reviews')))
        self.fits('recpack index', self.json('index', self.out, '--out', self.folder))
        self.fits('recpack sheet', self.json('sheet', self.out, self.folder / 'sheet.png'))
        self.fits('recpack cat', *self.lines('cat', self.out, '--record', '3'),
                  *self.lines('cat', self.folder / 'reviews', '--record', '3'))
        self.fits('recpack cache', self.json('cache', env={'RECPACK_CACHE': str(self.folder)}),
                  self.json('cache', env={'RECPACK_CACHE': str(self.folder), 'RECPACK_CACHE_BYTES': '1GB'}))

    def test_damage(self):
        self.damage_records(5, 6)
        self.fits('recpack verify', self.json('verify', self.out, code=FINDING))
        self.fits('recpack repair', self.json('repair', self.out, self.folder / 'saved', code=FINDING))

    def test_loading(self):
        words = 'batches', self.out, '--recipe', 'cifar10-eval', '--batch-size', 8
        audit = self.folder / 'audit'
        self.fits('recpack batches', *self.lines(*words, '--limit', 2), *self.lines(*words, '--ids', '--audit', audit),
                  *self.lines(*words, '--ids', '--limit', 2, '--mix', f'{self.out}=1'))
        self.fits('recpack audit', self.json('audit', self.out, audit), self.json('audit', self.out, audit, audit, code=FINDING))
        bench = 'bench', self.out, '--recipe', 'cifar10-train', '--threads', 1, '--seconds', 0.05
        self.fits('recpack bench', self.json(*bench), self.json(*bench, '--check', '--cache', 'records:1MB'))


@unittest.skipUnless(RECTRAIN, 'built without rectrain')
class Training(FitsPage, CliTest):
    def rectrain(self, *words, code=0):
        done = subprocess.run([RECTRAIN, *map(str, words), '--json'], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_training(self):
        out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py')

        def rectrain(*words):
            return self.rectrain(*words, '--threads', 1)
        train = 'train', out, '--width', 4, '--batch-size', 8, '--epochs', 1
        run = '--checkpoint', self.folder / 'run'
        self.fits('rectrain train', rectrain(*train, '--checkpoints', self.folder / 'run'),
                  timed := rectrain(*train, '--no-evaluation', '--input', 'real,cached', '--timed-steps', 1, '--timed-rounds', 1))
        self.fits('timing', *({name: each for name, each in one.items() if name not in ('input', 'samples_per_s')}
                              for one in timed['inputs']))
        self.fits('rectrain eval', rectrain('eval', out, *run))
        self.fits('rectrain eval --int8', rectrain('eval', out, *run, '--int8', '--batch-size', 8))
        self.fits('rectrain eval --image', rectrain('eval', *run, '--image', GOLDEN / 'image/rgb.png'),
                  rectrain('eval', out, *run, '--image', GOLDEN / 'image/rgb.png'))

    def test_sweeps(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 300)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        placed = self.rectrain('sweep', self.folder / 'reviews', '--model', 'deepconn', '--max-tokens', 24, '--dims', 8,
                               '--filters', 8, '--pooling', '2/1', '--batch-size', 8, '--steps', 2, '--rounds', 1,
                               '--devices-list', 'cpu:0,cpu:1', '--placements', 'one;user=cpu:7', code=FINDING)
        self.pack(CIFAR / 'cifar-10-batches-py')
        widths = self.rectrain('sweep', self.folder / 'out', '--width', 4, '--batch-size', 8, '--steps', 2, '--rounds', 1,
                               '--strategies', 'parameter_server/device,parameter_server/spread')
        self.fits('rectrain sweep', placed, widths)


class Links(FitsPage, StoreCase):
    def test_of_a_data_set_and_of_an_object(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'cifar10', '--rows', 30)
        self.pack(self.folder / 'made', out='bucket/data')
        (self.folder / 'bucket/object').write_bytes(bytes(1 << 20))
        self.serve()
        shown = [self.json('bench', f's3://bucket/{name}', '--seconds', 0.05, env=self.env) for name in ('data', 'object')]
        done = subprocess.run([PROGRAMS['recprobe'], 'doctor', '--store', 's3://bucket/data', '--seconds', '0.5', '--json'],
                              capture_output=True, text=True, timeout=120, check=True, env={**os.environ, **self.env})
        self.fits('recpack bench URL', *shown)
        self.fits('recprobe doctor --store', json.loads(done.stdout))
        self.fits('link', *(one['link'] for one in shown))
        self.assertNotIn('order', shown[1]['link'])


if __name__ == '__main__':
    unittest.main()
