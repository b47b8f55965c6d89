"""Tests recpack batches."""
import json
import tarfile
import unittest

from support import CIFAR, GOLDEN, CliTest


class Batches(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py', '--shards', '2')

    def lines(self, command, *flags, recipe='cifar10-train'):
        return self.run_recpack(command, self.out, '--recipe', recipe, *flags).stdout.splitlines()

    def test_threads_and_prefetching_change_nothing(self):
        one = self.lines('batches', '--batch-size', '8', '--threads', '1', '--ids')
        self.assertEqual(len(one), 64 // 8 + 1)
        for threads, prefetch in (2, 2), (5, 9):
            other = self.lines('batches', '--batch-size', '8', '--threads', str(threads),
                               '--prefetch', str(prefetch), '--ids')
            self.assertEqual(one, other)
        self.assertNotEqual(one, self.lines('batches', '--batch-size', '8', '--ids', '--seed', '1'))
        later = self.lines('batches', '--batch-size', '8', '--ids', '--epoch', '1')
        self.assertNotEqual(one[:-1], later[:-1])

    def test_a_cache_changes_nothing(self):
        # More than two epochs: 8 batches each.
        flags = '--batch-size', '8', '--limit', '20', '--ids'
        expected = self.lines('batches', *flags)
        for size in '1', '100kB', '1GB':
            self.assertEqual(expected, self.lines('batches', *flags, '--cache', 'records:' + size))

    def test_a_cache_that_makes_no_sense(self):
        where = ('batches', self.out, '--recipe', 'cifar10-train', '--batch-size', '8', '--cache')
        for text in 'records', '4GB', 'record:4GB', ':4GB', 'Records:1MB':
            self.fails(*where, text, saying=[f"unknown cache '{text}'", 'records:4GB'])
        for size in '', '0', '0GB', '-1MB', '4XB':
            self.fails(*where, 'records:' + size, saying=f"not a size: '{size}'")
        self.fails(*where, 'pictures:1MB', saying='raw')  # CIFAR-10's pictures

    def test_resume(self):
        whole = self.lines('batches', '--batch-size', '8', '--limit', '6')
        token = self.lines('batches', '--batch-size', '8', '--limit', '4')[-1].split()[1]
        rest = self.lines('batches', '--batch-size', '8', '--limit', '2', '--resume', token)
        self.assertEqual([line.split()[2] for line in rest[:-1]],
                         [line.split()[2] for line in whole[4:6]])
        self.assertEqual(rest[-1], whole[-1])
        self.fails('batches', self.out, '--recipe', 'cifar10-train', '--resume', token[:-1] + 'x',
                   saying='invalid token')
        self.fails('batches', self.out, '--recipe', 'cifar10-train', '--split', 'eval',
                   '--resume', token, saying='another data set')

    def test_ranks_share_an_epoch(self):
        ids = []
        for rank in range(3):
            for line in self.lines('batches', '--batch-size', '5', '--rank', str(rank),
                                   '--world-size', '3', '--last-batch', 'pad', '--ids')[:-1]:
                ids += [i for i in line.split()[3].split(',') if not i.endswith('*')]
        self.assertEqual(sorted(map(int, ids)), list(range(64)))

    def test_order_and_json(self):
        first = json.loads(self.lines('batches', '--batch-size', '4', '--limit', '1', '--order',
                                      'sequential', '--ids', '--json',
                                      recipe='cifar10-eval')[0])
        self.assertEqual(first['ids'], [0, 1, 2, 3])
        self.assertEqual((first['epoch'], first['batch'], first['samples']), (0, 0, 4))
        self.fails('batches', self.out, '--recipe', 'cifar10-train', '--order', 'mixed',
                   saying='window:BLOCK')
        self.fails('batches', self.out, '--recipe', 'cifar', saying='imagenet-eval')

    def test_a_bad_record(self):
        shard = self.out / 'train-00000-of-00002.tfrecord'
        data = bytearray(shard.read_bytes())
        data[3 * 3126 + 100] ^= 1
        shard.write_bytes(data)
        where = ('batches', self.out, '--recipe', 'cifar10-train', '--batch-size', '64', '--json')
        self.fails(*where, saying=[str(shard), 'record 3', 'CRC'])
        ledger = self.folder / 'ledger'
        self.fails(*where, '--on-bad-record', 'substitute', '--ledger', ledger,
                   saying='1 bad records in epoch 0')
        line = json.loads(ledger.read_text())
        self.assertEqual((line['epoch'], line['record'], line['ordinal'], line['shard']),
                         (0, 3, 3, str(shard)))
        self.assertIn('CRC', line['reason'])
        self.fails(*where, '--on-bad-record', 'substitute', '--ledger', ledger,
                   saying='1 bad records in epoch 0')
        self.assertEqual(len(ledger.read_text().splitlines()), 1)

    def test_what_was_not_packed(self):
        """Images in class folders and tars give the same batches as their shards."""
        files = sorted((GOLDEN / 'image').glob('orientation*.jpg'))[:6]
        self.assertEqual(len(files), 6)
        photos = self.folder / 'photos'
        archives = [tarfile.open(self.folder / f'x-{i:03}.tar', 'w') for i in range(2)]
        for i, file in enumerate(files):
            to = photos / ('train' if i < 4 else 'val') / 'ab'[i % 2] / file.name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(file.read_bytes())
            cls = self.folder / f'{i}.cls'
            cls.write_text(f'{i + 1}')
            archives[i // 3].add(file, f'{i}.jpg')
            archives[i // 3].add(cls, f'{i}.cls')
        for archive in archives:
            archive.close()

        def batches(*data):
            return self.run_recpack('batches', *data, '--recipe', 'imagenet-eval', '--batch-size',
                                    '2', '--ids').stdout.splitlines()[:-1]
        self.pack(photos, '--shuffle', 'off', out='shards')
        for split in 'train', 'validation':
            self.assertEqual(batches(photos, '--split', split),
                             batches(self.folder / 'shards', '--split', split))
        fields = '--field', 'image=jpg,label=cls'
        self.pack(self.folder / 'x-{000..001}.tar', *fields, out='tars')
        offset = '--label-offset', '1'
        expected = batches(self.folder / 'tars', *offset)
        self.assertEqual(len(expected), 3)
        self.assertNotEqual(expected, batches(self.folder / 'tars'))
        self.assertEqual(expected, batches(self.folder / 'x-{000..001}.tar', *fields, *offset))
        self.assertEqual(expected, batches(self.folder / 'x-000.tar', '--also',
                                           self.folder / 'x-001.tar', *fields, *offset))
        self.run_recpack('batches', self.folder / 'x-000.tar', '--also', self.folder / 'x-001.tar',
                         '--recipe', 'imagenet-eval', '--batch-size', '2', *fields, *offset,
                         '--audit', self.folder / 'audit')
        words = ('audit', self.folder / 'x-000.tar', self.folder / 'audit')
        more = ('--also', self.folder / 'x-001.tar', *fields, *offset)
        self.assertTrue(self.json(*words, *more)['holds'])
        self.fails(*words, *fields, *offset, saying='another data set')
        self.fails('batches', photos, '--recipe', 'imagenet-eval', '--split', 'test',
                   saying='train, validation')
        self.fails('batches', photos, '--recipe', 'imagenet-eval', '--field', 'image=x',
                   saying='leave out the field map')


if __name__ == '__main__':
    unittest.main()
