"""The same batches, bit for bit, whatever makes them: threads, prefetching, processor, ranks."""
import hashlib
import json
import shutil
import unittest

from support import CIFAR, GOLDEN, CliTest

# Levels that this machine does not have are the highest one that it has.
LEVELS = 'portable', 'sse42', 'avx2', 'avx512', 'neon'
PHOTOS = 'real_420', 'real_420b', 'real_422', 'real_444', 'real_gray', 'real_icc', 'progressive'
FROZEN = {  # of batches of two epochs: a token of today must give the same in ten years
    'cifar10-train': '99d33e92b401b101', 'cifar10-eval': 'ca4f312546739764',
    'imagenet-train': 'a783b8fc9f1029bc', 'imagenet-eval': '152522a0a852b325'}


class SameBatches(CliTest):
    def setUp(self):
        super().setUp()
        self.pack(CIFAR / 'cifar-10-batches-py', out='cifar10')
        for i, name in enumerate(PHOTOS):
            photo = self.folder / 'photos' / 'ab'[i % 2] / f'{name}.jpg'
            photo.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(GOLDEN / 'image' / f'{name}.jpg', photo)
        self.pack(self.folder / 'photos', out='imagenet')

    def batches(self, recipe, *flags, **options):
        size, limit = ('16', '8') if recipe.startswith('cifar10') else ('3', '6')
        return self.run_recpack('batches', self.folder / recipe.split('-')[0], '--recipe', recipe,
                                '--batch-size', size, '--limit', limit, '--seed', '4',
                                '--last-batch', 'keep', '--ids', *flags, **options).stdout

    def test_threads_and_prefetching(self):
        for recipe in FROZEN:
            expected = self.batches(recipe, '--threads', '1', '--prefetch', '2')
            for threads, prefetch in (2, 2), (3, 16), (4, 3), (5, 8), (6, 2), (7, 4), (8, 16), (1, 16):
                with self.subTest(recipe=recipe, threads=threads, prefetch=prefetch):
                    self.assertEqual(expected, self.batches(recipe, '--threads', str(threads),
                                                            '--prefetch', str(prefetch)))

    def test_processors(self):
        for recipe in FROZEN:
            expected = self.batches(recipe)
            for level in LEVELS:
                for simd in {}, {'JSIMD_FORCENONE': '1'}:
                    with self.subTest(recipe=recipe, level=level, **simd):
                        env = {'RECPACK_CPU': level, **simd}
                        self.assertEqual(expected, self.batches(recipe, env=env))

    def test_frozen(self):
        found = {}
        for recipe in FROZEN:
            lines = self.batches(recipe).rsplit('token ', 1)[0]
            found[recipe] = hashlib.sha256(lines.encode()).hexdigest()[:16]
        self.assertEqual(found, FROZEN)

    def test_other_ranks_go_on_in_the_same_order(self):
        for order in 'global', 'window:4:8:2', 'window:3:4:1':
            where = ('batches', self.folder / 'cifar10', '--recipe', 'cifar10-train', '--json',
                     '--ids', '--last-batch', 'keep')
            whole = [json.loads(line) for line in self.run_recpack(
                *where, '--order', order, '--batch-size', '4', '--limit', '60').stdout.splitlines()]
            ids, token = [], ()
            for world, size, steps in (4, 2, 3), (3, 3, 2), (1, 5, 2), (2, 4, 20):
                ranks = [[json.loads(line) for line in self.run_recpack(
                    *where, '--batch-size', size, '--limit', steps, '--rank', rank, '--world-size',
                    world, *(token or ('--order', order))).stdout.splitlines()]
                         for rank in range(world)]
                for step in zip(*ranks):
                    for i in range(size):
                        ids += [one['ids'][i] for one in step if i < one['samples']]
                    self.assertEqual(len({one['token'] for one in step}), 1)
                token = '--resume', ranks[0][-1]['token']
            expected = [i for one in whole for i in one['ids']]
            self.assertGreater(len(ids), 100)  # into the second epoch
            self.assertEqual(ids, expected[:len(ids)])


if __name__ == '__main__':
    unittest.main()
