"""Hostile files under every command and recipe of recpack."""
import json
import unittest

import hostile_tree
from support import RECPACK

RECIPES = ('cifar10-train', 'cifar10-eval', 'imagenet-train', 'imagenet-train-randaugment',
           'imagenet-train-trivialaugment', 'imagenet-eval')


class Hostile(hostile_tree.HostileData):
    program = RECPACK

    def commands(self, data):
        out = self.folder / 'made'
        yield 'ls', ['ls', data], True
        yield 'ls --classes', ['ls', data, '--classes', '--json'], False
        yield 'verify', ['verify', data], True
        yield 'verify --decode', ['verify', data, '--decode'], True
        yield 'cat', ['cat', data], False
        yield 'index', ['index', data, '--out', out], False
        yield 'repair', ['repair', data, out], True
        yield 'sheet', ['sheet', data, '--out', out / 'sheet.png'], False
        yield 'pack', ['pack', data, out, '--no-sync'], False
        yield 'pack --check', ['pack', data, out, '--no-sync', '--check-images'], True
        yield 'pack tfrecord', ['pack', data, out, '--no-sync', '--from', 'tfrecord'], True
        for recipe in RECIPES:
            yield recipe, ['batches', data, '--recipe', recipe, '--epochs', '1'], True

    def test_a_manifest_of_many_splits(self):
        shards = self.shards_at('many')
        manifest = json.loads((shards / 'manifest.json').read_text())
        for i in range(100_000):
            manifest['splits'][f's{i}'] = {'records': 0, 'bytes': 0, 'index': f's{i}.recindex', 'shards': []}
        (shards / 'manifest.json').write_text(json.dumps(manifest))
        for words in ['ls', shards], ['ls', shards, '--json'], ['verify', shards], ['cat', shards, '--split', 'train']:
            self.hold(self.program, *words, vouches=False)


if __name__ == '__main__':
    unittest.main()
