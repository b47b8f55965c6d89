"""Tests sampling flags of recpack batches, and recpack audit."""
import collections
import json
import subprocess
import unittest

from support import CIFAR, FINDING, RECPACK, CliTest


class Sampling(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py', '--shards', '2')
        self.where = ('batches', self.out, '--recipe', 'cifar10-eval', '--last-batch', 'keep',
                      '--ids')

    def ids(self, *flags):
        lines = self.run_recpack(*self.where, *flags).stdout.splitlines()[:-1]
        return [int(i.split(':')[-1]) for line in lines for i in line.split()[3].split(',')]

    def test_a_subset(self):
        listed = self.folder / 'ids'
        listed.write_text('5\n63\n\n0\n')
        self.assertEqual(sorted(self.ids('--subset', listed)), [0, 5, 63])
        self.assertEqual(self.ids('--subset', listed, '--order', 'sequential'), [5, 63, 0])
        listed.write_text('5\n6x\n')
        self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--subset', listed,
                   saying=[str(listed), "line 2: not a record ordinal: '6x'"])
        listed.write_text('64\n')
        self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--subset', listed,
                   saying='no record 64')

    def test_classes(self):
        one = self.ids('--balanced', 'label')
        self.assertEqual(len(one), 70)  # 64 in 10 classes: 7 of each
        ids = self.ids('--balanced', 'label', '--epoch-samples', '640')
        counts = collections.Counter(ids)
        self.assertEqual(len(ids), 640)
        self.assertEqual(len(counts), 64)
        self.assertNotEqual(min(counts.values()), max(counts.values()))
        self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--epoch-samples', '9',
                   saying='without --balanced or --mix')
        self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--balanced', 'image',
                   saying='a class is one int64')

    def test_a_hash_range(self):
        first, second = self.ids('--hash-range', '0:0.7'), self.ids('--hash-range', '0.7:1')
        self.assertEqual(sorted(first + second), list(range(64)))
        self.assertTrue(len(first) > len(second) > 0)
        self.assertNotEqual(first, self.ids('--hash-range', '0:0.7:8'))
        labels = [json.loads(line)['features']['feature']['label']['int64List']['value'][0]
                  for line in self.run_recpack('cat', self.out, '--split', 'train', '--record',
                                               '0:64', '--json').stdout.splitlines()]
        by_label = self.ids('--hash-range', '0:0.5:0:label')
        self.assertTrue(by_label)
        kept = {str(labels[i]) for i in by_label}
        self.assertEqual(len(by_label), sum(str(label) in kept for label in labels))
        file = self.folder / 'audit'
        self.run_recpack(*self.where, '--hash-range', '0:0.7', '--audit', file)
        self.assertTrue(self.json('audit', self.out, file, '--hash-range', '0:0.7')['holds'])
        for wrong in '0.5', '0:x', '0:1:y', '':
            self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--hash-range', f':{wrong}',
                       saying='BEGIN:END')
        self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--hash-range', '0.5:0.2',
                   saying='0.5')

    def test_classes_without_corrupt_records(self):
        shard = sorted(self.out.glob('train-*.tfrecord'))[0]
        with open(shard, 'r+b') as file:
            file.seek(100)
            file.write(b'damaged')
        flags = '--balanced', 'label', '--epoch-samples', '640'
        self.run_recpack('batches', self.out, '--recipe', 'cifar10-eval', *flags, code=2)
        ids = self.ids(*flags, '--leave-out-corrupt')
        self.assertEqual(set(ids), set(range(1, 64)))
        file = self.folder / 'audit'
        self.run_recpack('batches', self.out, '--recipe', 'cifar10-eval', '--last-batch', 'keep',
                         *flags, '--leave-out-corrupt', '--audit', file)
        self.assertTrue(
            self.json('audit', self.out, file, *flags, '--leave-out-corrupt')['holds'])

    def test_a_mixture(self):
        other = self.folder / 'other'
        self.pack(CIFAR / 'cifar-10-batches-py', out='other')
        (self.folder / 'ids').write_text('1\n2\n')
        ids = self.ids('--subset', self.folder / 'ids', '--mix', f'{other}=3', '--mix-period', '8')
        self.assertEqual(len(ids), 88)  # 11 periods, each with 6 of the other 64
        counts = collections.Counter(ids)
        self.assertEqual(len(counts), 64)
        self.assertGreaterEqual(counts[1] + counts[2], 22)
        first = json.loads(self.run_recpack(*self.where, '--mix', f'{other}=1', '--json',
                                            '--limit', '1').stdout)
        self.assertEqual(len(first['views']), len(first['ids']))
        self.assertEqual(collections.Counter(first['views'][:100]), {0: 50, 1: 50})
        text = self.run_recpack(*self.where, '--mix', f'{other}=1', '--limit', '1').stdout
        self.assertIn(f' {first["views"][0]}:{first["ids"][0]},', text)
        self.assertEqual(len(self.ids('--mix', f'{other}=1', '--mix', f'{other}=2',
                                      '--epoch-samples', '31')), 31)
        for text in 'other', 'other=', '=', 'other=x', '':
            self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--mix', text,
                       saying='not DATA=WEIGHT')
        self.fails('batches', self.out, '--recipe', 'cifar10-eval', '--mix', f'{other}=0',
                   saying='invalid weight 0')

    def test_a_ledger_of_a_run_that_is_killed_and_resumed(self):
        shard = self.out / 'train-00000-of-00002.tfrecord'
        data = bytearray(shard.read_bytes())
        data[3 * 3126 + 100] ^= 1
        shard.write_bytes(data)
        where = ('batches', self.out, '--recipe', 'cifar10-eval', '--batch-size', '16', '--json',
                 '--order', 'window:4:4:2', '--on-bad-record', 'substitute', '--max-bad', '10%')
        straight = self.folder / 'straight'
        lines = self.run_recpack(*where, '--limit', '4000', '--ledger', straight)
        lines = lines.stdout.splitlines()
        self.assertEqual(len(straight.read_text().splitlines()), 1000)
        ledger = self.folder / 'ledger'
        at = 0
        for step in 700, 1, 150:  # each run is killed after the position it resumed from
            resume = ('--resume', json.loads(lines[at - 1])['token']) if at else ()
            with subprocess.Popen([RECPACK, *map(str, where), '--ledger', ledger, '--limit',
                                   '100000', *resume],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True) as run:
                for i in range(step):
                    batch = json.loads(run.stdout.readline())
                    expected = json.loads(lines[at + i])
                    self.assertEqual((batch['sha256'], batch['token']),
                                     (expected['sha256'], expected['token']))
                run.kill()
            at += step
        self.run_recpack(*where, '--ledger', ledger, '--limit', 4000 - at, '--resume',
                         json.loads(lines[at - 1])['token'])
        written = ledger.read_text().splitlines()
        self.assertEqual(written[:1000], straight.read_text().splitlines())
        self.assertEqual(len(written), len(set(written)))
        self.fails(*where[:-2], '--max-bad', '200%', saying='not a share')

    def test_an_audit_over_ranks_and_restarts(self):
        for rank in range(3):
            where = (*self.where, '--rank', rank, '--world-size', '3', '--batch-size', '5',
                     '--audit', self.folder / f'{rank}.audit')
            token = self.run_recpack(*where, '--limit', '2').stdout.split()[-1]
            self.run_recpack(*where, '--resume', token)
        files = [self.folder / f'{rank}.audit' for rank in range(3)]
        text = self.run_recpack('audit', self.out, *files, '--threads', '2').stdout
        self.assertEqual(text, 'epoch 0: 64 of 64 samples, 0 substituted: all is well\n')
        result = self.json('audit', self.out, *files)
        self.assertEqual((result['holds'], result['samples'], result['differing']), (True, 64, 0))
        part = self.folder / 'part.audit'
        self.run_recpack(*self.where, '--batch-size', '5', '--limit', '2', '--audit', part)
        self.assertEqual(self.run_recpack('audit', self.out, part).stdout,
                         'epoch 0: 10 of 64 samples, 0 substituted: all is well up to there, the '
                         'rest was not delivered\n')

        result = self.json('audit', self.out, files[0], files[1], files[0], '--limit', '4',
                           code=FINDING)
        self.assertFalse(result['holds'])
        self.assertEqual(len(result['differences']), 4)
        self.assertGreater(result['differing'], 40)
        text = self.run_recpack('audit', self.out, files[0], '--limit', '1', code=FINDING).stdout
        self.assertRegex(text, r'record \d+: delivered [01], should be [01]\nand \d+ records more\n')
        self.fails('audit', self.out, files[0], '--split', 'eval', saying='another data set')
        text = self.run_recpack('audit', self.out, files[0], *files, code=FINDING).stdout
        self.assertIn('delivered 2, should be 1', text)
        self.assertIn('86 of 64 samples, 0 substituted: not the samples of the epoch', text)
        files[0].write_text('hello\n')
        self.fails('audit', self.out, *files, saying=[str(files[0]), 'invalid audit'])

    def test_an_audit_of_a_view_and_a_mixture(self):
        other = self.folder / 'other'
        self.pack(CIFAR / 'cifar-10-batches-py', out='other')
        (self.folder / 'ids').write_text('1\n2\n4\n')
        file = self.folder / 'audit'
        for flags in (('--subset', self.folder / 'ids'),
                      ('--balanced', 'label', '--epoch-samples', '100'),
                      ('--mix', f'{other}=1', '--mix-period', '10')):
            self.run_recpack(*self.where, *flags, '--audit', file)
            self.assertTrue(self.json('audit', self.out, file, *flags)['holds'])
            self.fails('audit', self.out, file, saying='another data set')


if __name__ == '__main__':
    unittest.main()
