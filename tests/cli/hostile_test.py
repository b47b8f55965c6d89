"""Hostile files under every command and recipe of recpack."""
import json
import shutil
import unittest

import hostile_tree
from hostile_files import DEEP_TEXTS, KINDS, png
from support import CIFAR, DONE, RECPACK

RAW = 'cifar10-train', 'cifar10-eval'  # recipes of raw pictures
ENCODED = ('imagenet-train', 'imagenet-train-randaugment', 'imagenet-train-trivialaugment',
           'imagenet-eval')
LOADER = '--threads', '2', '--batch-size', '4', '--last-batch', 'keep', '--json'


class Recpack:
    program = RECPACK
    at_once = 2
    recipes = ()
    audit = None

    def batches(self, data, recipe, *words):
        return 'batches', data, '--recipe', recipe, *LOADER, *words

    def reference(self, data):
        self.audit = self.folder / f'{data}.audit'
        self.hold(RECPACK, *self.batches(self.folder / data, self.recipes[-1], '--audit', self.audit), vouches=False)
        return super().reference(data)

    def commands(self, data):
        """Each writes into a folder of its own."""
        def pack(name, *more):
            return name, ['pack', data, self.folder / 'made' / name, '--no-sync', '--json', *more], bool(more)
        yield 'sheet', ['sheet', data, self.path('made/sheet.png'), '--json'], False
        yield pack('pack')
        for recipe in self.recipes:
            yield recipe, self.batches(data, recipe), True
        if self.recipes == RAW:
            return
        yield 'cat', ['cat', data, '--range', '0:', '--json'], False
        yield 'ls', ['ls', data, '--json'], True
        yield 'ls --classes', ['ls', data, '--classes', '--json'], False
        yield 'verify', ['verify', data, '--json'], True
        yield 'verify --decode', ['verify', data, '--decode', '--json'], True
        yield 'index', ['index', data, '--out', self.folder / 'made/index', '--json'], False
        yield 'repair', ['repair', data, self.folder / 'made/repair', '--json'], True
        yield pack('pack --check', '--check-images')
        yield pack('pack tfrecord', '--from', 'tfrecord')
        if self.audit:
            yield 'audit', ['audit', data, self.audit, '--json'], False

    def documents(self, done):
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b'{')]

    def delivered(self, done):
        documents = self.documents(done)
        if not documents or 'sha256' not in documents[0] and len(documents) > 1:
            return len(documents)  # of cat
        if 'sha256' in documents[0]:
            return sum(batch['samples'] for batch in documents)
        one, = documents
        parts = [*one.get('splits', {}).values(), *one.get('indexes', ())] or [one]
        return sum(part.get('records', part.get('samples', 0)) for part in parts)

    def tells(self, done):
        return super().tells(done) or any(one.get(name) for one in self.documents(done)
                                          for name in ('skipped', 'lost', 'findings', 'differences'))


class HostileRaw(Recpack, hostile_tree.HostileShards):
    recipes = RAW

    def pack_good(self):
        self.pack(CIFAR / 'cifar-10-batches-py', out='good')


class Hostile(Recpack, hostile_tree.HostileData):
    recipes = ENCODED

    def setUp(self):
        super().setUp()
        self.pack_good()

    def reference_of_pictures(self):
        self.photos('eight')
        shutil.copy(self.folder / 'eight/train/a/0.jpg', self.folder / 'eight/train/a/x.jpg')
        self.pack(self.folder / 'eight', out='eight packed')
        return self.reference('eight packed')

    def test_bench(self):
        """Which takes seconds of data that are as they should be: it is tried on few."""
        def bench(data, vouches):
            return self.hold(RECPACK, 'bench', self.folder / data, '--recipe', 'imagenet-eval', '--seconds', '0.01',
                             '--threads', '1', '--batch-size', '2', '--json', vouches=vouches)
        done = bench('good', vouches=False)
        self.assertEqual(done.returncode, DONE, done.stderr)
        shard, manifest = 'train-00000-of-00001.tfrecord', 'manifest.json'
        whole = (self.folder / 'good' / shard).read_bytes()
        for name, content in ((shard, b''), (shard, whole[:-100]), (shard, b'hello'), (shard, whole + whole),
                              (manifest, b'hello'), (manifest, b'{}'),
                              *((manifest, text.encode()) for text in DEEP_TEXTS.values())):
            with self.subTest(name=name, content=content[:10], size=len(content)):
                shutil.rmtree(self.folder / 'benched', ignore_errors=True)
                self.write(f'{self.shards_at("benched")}/{name}', content)
                bench('benched', vouches=True)
        for kind in KINDS:
            for name in shard, manifest:
                with self.subTest(kind=kind, name=name):
                    self.special(f'{self.shards_at(f"{kind} {name}")}/{name}', kind)
                    bench(f'{kind} {name}', vouches=True)

    def test_every_recipe_is_tried(self):
        done = self.run_recpack('batches', '--help')
        for recipe in (*RAW, *ENCODED):
            self.assertIn(recipe, done.stdout)

    def test_manifests_that_lack_splits(self):
        self.photos('two')
        shutil.copytree(self.folder / 'two/train', self.folder / 'two/validation')
        self.pack(self.folder / 'two')
        good = json.loads((self.folder / 'out/manifest.json').read_text())
        self.assertEqual(set(good['splits']), {'train', 'validation'})
        reference = self.reference('out')
        for names in (), ('train',), ('validation',):
            with self.subTest(splits=names):
                splits = {name: good['splits'][name] for name in names}
                (self.folder / 'out/manifest.json').write_text(json.dumps({**good, 'splits': splits}))
                self.attack('out', reference=reference)

    def test_side_files_that_were_cut(self):
        reference = self.reference('good')
        for name in 'train.recindex', '.recpack/plan.json', '.recpack/train-00000-of-00001.tfrecord.json':
            whole = (self.folder / 'good' / name).read_bytes()
            for size in 0, len(whole) // 2, len(whole) - 1:
                with self.subTest(name=name, size=size):
                    self.write(f'good/{name}', whole[:size])
                    self.attack('good', whole=True, reference=reference)
            self.write(f'good/{name}', whole)

    def test_audits(self):
        data = self.folder / 'good'
        self.reference('good')
        whole = self.audit.read_bytes()
        for size in range(0, len(whole), max(1, len(whole) // 12)):
            with self.subTest(size=size):
                self.write('cut.audit', whole[:size])
                self.hold(RECPACK, 'audit', data, self.folder / 'cut.audit', vouches=True)
        for name, content in {'text': b'hello', 'longer': whole + whole, 'ones': b'\xff' * len(whole),
                              'counts': whole[:8] + b'\xff' * 40 + whole[48:]}.items():
            with self.subTest(name):
                self.write('other.audit', content)
                self.hold(RECPACK, 'audit', data, self.folder / 'other.audit', vouches=True)
        for kind in KINDS:
            with self.subTest(kind):
                self.special(f'{kind}.audit', kind)
                self.hold(RECPACK, 'audit', data, self.folder / f'{kind}.audit', vouches=True)
        self.hold(RECPACK, 'audit', data, self.audit, self.audit, vouches=True)

    def test_caches(self):
        """The folder of remote data has anybody's files, from which nothing but its own is removed."""
        self.write('kept', 'of the user')

        def hold(folder):
            for words in [], ['--clear'], []:
                done = self.hold(RECPACK, 'cache', '--json', *words, vouches=False,
                                 env={'RECPACK_CACHE': str(folder), 'RECPACK_CACHE_BYTES': '1GB'})
                if done.returncode == DONE:
                    for use in (json.loads(done.stdout)[name] for name in ('records', 'indexes')):
                        self.assertLess(use['bytes'], 2**30)
            self.assertEqual((self.folder / 'kept').read_text(), 'of the user')
        hold(self.folder / 'none')
        self.write('file', '')
        hold(self.folder / 'file')
        for kind in KINDS:
            with self.subTest(kind):
                self.special(kind, kind)
                hold(self.folder / kind)
                for place in 'data', 'files':
                    self.special(f'cache {kind}/{place}', kind)
                hold(self.folder / f'cache {kind}')
                for place in 'data', 'files':
                    self.special(f'objects {kind}/{place}/x', kind)
                    self.special(f'objects {kind}/{place}/x.bits', kind)
                    self.path(f'objects {kind}/{place}/folder/y')
                    (self.folder / f'objects {kind}/{place}/link').symlink_to(self.folder / 'kept')
                hold(self.folder / f'objects {kind}')

    def test_pngs_of_every_depth(self):
        clear = bytes(range(0, 256, 128))
        pictures = {
            **{f'gray {depth}': png(8, 8, depth, 0, [bytes(range(depth))] * 8) for depth in (1, 2, 4, 8, 16)},
            **{f'gray {depth} and clear': png(8, 8, depth, 0, [bytes(range(depth))] * 8, clear=b'\0\1')
               for depth in (1, 2, 4, 8, 16)},
            **{f'rgb {depth}': png(8, 8, depth, 2, [bytes(3 * depth)] * 8) for depth in (8, 16)},
            **{f'gray and alpha {depth}': png(8, 8, depth, 4, [bytes(2 * depth)] * 8) for depth in (8, 16)},
            **{f'rgb and alpha {depth}': png(8, 8, depth, 6, [bytes(4 * depth)] * 8) for depth in (8, 16)},
            **{f'palette {depth}': png(8, 8, depth, 3, [bytes(depth)] * 8, bytes(6), clear)
               for depth in (1, 2, 4, 8)},
            'palette of fewer colours': png(8, 8, 8, 3, [bytes(range(8))] * 8, bytes(6))}
        for name, content in pictures.items():
            self.write(f'depths/train/a/{name}.png', content)
        self.pack(self.folder / 'depths', '--check-images', out='packed')
        self.assertEqual(set(self.reference('packed').values()), {0, len(pictures)})

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
