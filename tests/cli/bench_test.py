"""bench: what it reports; how fast it is, is no matter here."""
import unittest

from support import CIFAR, GOLDEN, CliTest

STAGES = ['input', 'plan', 'read', 'parse', 'decode', 'augment', 'function', 'batch', 'write']


class Bench(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py', '--shards', '2')

    def test_json(self):
        got = self.json('bench', self.out, '--recipe', 'cifar10-train', '--threads', '2',
                        '--batch-size', '16', '--seconds', '0.1')
        self.assertEqual(got['threads'], 2)
        self.assertGreater(got['samples_per_s'], 0)
        self.assertEqual([s['name'] for s in got['stages']], STAGES)
        self.assertIn(got['limited_by'], STAGES + ['consumer'])
        stages = {s['name']: s for s in got['stages']}
        for name in 'read', 'parse', 'write':
            self.assertGreater(stages[name]['per_s'], 0)
            self.assertGreater(stages[name]['busy'], 0)
        for name in 'read', 'write':
            self.assertGreater(stages[name]['ceiling_per_s'], 0)
        # Raw pictures in memory: what was not measured says so.
        self.assertRegex(stages['decode']['per_s'], '^unavailable: ')
        self.assertRegex(stages['decode']['ceiling_per_s'], '^unavailable: no picture')
        self.assertRegex(stages['parse']['ceiling_per_s'], '^unavailable: ')
        self.assertLessEqual(sum(s['busy'] for s in got['stages']) + got['wait_for_room'], 1.2)
        self.assertEqual([p['threads'] for p in got['predicted']],
                         list(range(1, got['cores'] + 1)))
        self.assertNotIn('check', got)
        self.assertEqual(got['scaling'][0], {'threads': 1, 'compute': 1, 'memory': 1})
        self.assertEqual(got['scaling'][-1]['threads'], got['cores'])
        for at in got['scaling']:
            self.assertGreaterEqual(min(at['compute'], at['memory']), 1)

    def test_what_was_measured_is_not_predicted_otherwise(self):
        for threads in 1, 2:
            got = self.json('bench', self.out, '--recipe', 'cifar10-train', '--threads', threads,
                            '--batch-size', '16', '--seconds', '0.1')
            if threads > got['cores']:
                continue
            self.assertAlmostEqual(got['predicted'][threads - 1]['samples_per_s'],
                                   got['samples_per_s'], delta=1)

    def test_check_says_how_far_predictions_were_off(self):
        got = self.json('bench', self.out, '--recipe', 'cifar10-eval', '--seconds', '0.05',
                        '--split', 'eval', '--batch-size', '8', '--check')
        errors = []
        for each in got['predicted']:
            self.assertGreater(each['measured_per_s'], 0)
            self.assertAlmostEqual(
                each['error'],
                abs(each['samples_per_s'] - each['measured_per_s']) / each['measured_per_s'])
            errors.append(each['error'])
        self.assertAlmostEqual(got['check']['mean_error'], sum(errors) / len(errors))
        self.assertEqual(got['check']['holds'], got['check']['mean_error'] <= 0.1)

    def test_the_table(self):
        text = self.run_recpack('bench', self.out, '--recipe', 'cifar10-train', '--seconds',
                                '0.05', '--check').stdout
        self.assertRegex(text, r'limited by \w+')
        self.assertRegex(text, r'(?m)^write +[\d.]+% +[\d,]+ +[\d,]+$')
        self.assertRegex(text, r'(?m)^parse .*unavailable: ')
        self.assertRegex(text, r'mean error of the predictions: [\d.]+%, the goal is at most 10%')

    def test_jpegs_have_a_ceiling(self):
        photos = self.folder / 'photos/all'
        photos.mkdir(parents=True)
        for i in range(4):
            (photos / f'{i}.jpg').write_bytes((GOLDEN / 'image/real_420.jpg').read_bytes())
        self.pack(self.folder / 'photos', out='photo-shards')
        got = self.json('bench', self.folder / 'photo-shards', '--recipe', 'imagenet-eval',
                        '--seconds', '0.1', '--batch-size', '4')
        stages = {s['name']: s for s in got['stages']}
        for name in 'decode', 'augment':
            self.assertGreater(stages[name]['per_s'], 0)
        self.assertGreater(stages['decode']['ceiling_per_s'], 0)

    def test_what_a_cache_took(self):
        photos = self.folder / 'photos/all'
        photos.mkdir(parents=True)
        for i in range(4):
            (photos / f'{i}.jpg').write_bytes((GOLDEN / 'image/real_420.jpg').read_bytes())
        self.pack(self.folder / 'photos', out='photo-shards')
        where = ('bench', self.folder / 'photo-shards', '--recipe', 'imagenet-train', '--seconds',
                 '0.1', '--batch-size', '4', '--threads', '1', '--cache')
        for what in 'records', 'pictures':
            cache = self.json(*where, what + ':50MB')['cache']
            self.assertEqual((cache['kept'], cache['misses']), (4, 4))
            self.assertGreater(cache['hits'], 0)
            self.assertLess(cache['bytes'], 50_000_000)
            none = self.json(*where, what + ':1')['cache']
            self.assertEqual((none['kept'], none['hits'], none['bytes']), (0, 0, 0))
        text = self.run_recpack(*where, 'pictures:50MB').stdout
        self.assertRegex(text, r'(?m)^cache: [\d.]+ [kM]B of 50\.\d* MB, [\d,]+ hits, 4 misses$')
        self.fails(*where, 'pictures', saying='pictures:500MB')

    def test_what_makes_no_sense(self):
        where = ('bench', self.out, '--recipe', 'cifar10-train')
        self.fails(*where, '--threads', '-1', saying='--threads')
        self.fails(*where, '--seconds', '0', saying='--seconds')
        self.fails(*where, '--batch-size', '0', saying='--batch-size')
        self.fails('bench', self.out, '--recipe', 'cifar', saying='imagenet-eval')


if __name__ == '__main__':
    unittest.main()
