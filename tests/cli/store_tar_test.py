"""WebDataset tars in an object store: read as they are, with the batches and shards of those on the disk."""
import gzip
import shutil
import unittest

from object_server import Faults
from store_case import StoreCase
from support import FAILURE, GOLDEN
from tar_files import write_tar

PHOTO = (GOLDEN / 'image/real_422.jpg').read_bytes()


class StoreTars(StoreCase):
    def setUp(self):
        super().setUp()
        self.tars = self.folder / 'bucket/tars'
        self.tars.mkdir(parents=True)
        for number in range(3):
            self.make_tar(self.tars / f'train-{number}.tar', range(20 * number, 20 * number + 20))

    @staticmethod
    def make_tar(path, samples, large=0):
        write_tar(path, ((f'photos/{sample:05}.{extension}', content) for sample in samples for extension, content in (
            ('jpg', PHOTO), ('json', b'{"n": %d}' % sample), ('cls', b'%d' % (sample % 7)), ('bin', bytes(large)))))

    def batches(self, data, *flags, **options):
        return self.run_recpack('batches', data, '--recipe', 'imagenet-eval', '--field', 'image=jpg,label=cls',
                                '--batch-size', 7, '--seed', 3, '--json', *flags, env=self.env, **options).stdout

    def fetched(self, server, begin=0):
        """Requests of archives, but for those of their ends, and the bytes that they asked for."""
        ranges = [given.removeprefix('bytes=').split('-') for _, path, given in server.requests[begin:]
                  if '.tar' in path]
        ranges = [(int(first), int(last) + 1) for first, last in ranges if first]
        return len(ranges), sum(end - first for first, end in ranges)

    def test_batches_are_those_of_the_disk(self):
        server = self.serve()
        for order in 'sequential', 'global', 'window:4:2:2':
            here = self.batches(self.tars / 'train-{0..2}.tar', '--order', order)
            for url in ('s3://bucket/tars/train-{0..2}.tar', 's3://bucket/tars/*.tar',
                        f'{server.url}/web/bucket/tars/train-{{0..2}}.tar'):
                self.assertEqual(self.batches(url, '--order', order), here, (url, order))

    def test_an_archive_is_read_through_once(self):
        server = self.serve()
        size = sum(path.stat().st_size for path in self.tars.iterdir())
        first = self.batches('s3://bucket/tars/*.tar', '--order', 'window:4:2:2')
        self.assertLess(self.fetched(server)[1], 2.2 * size)  # once for the index, once for an epoch
        begin = len(server.requests)
        self.assertEqual(self.batches('s3://bucket/tars/*.tar', '--order', 'window:4:2:2'), first)
        requests, fetched = self.fetched(server, begin)
        self.assertLess(fetched, 1.1 * size)
        self.assertLess(requests, 60)  # samples; how many neighbours come together depends on when they are wanted
        self.assertEqual(self.json('cache', env=self.env)['indexes']['objects'], 3)
        for path in (self.folder / 'cache/files').iterdir():
            path.write_bytes(path.read_bytes()[:-1])  # damaged: not used
        self.assertEqual(self.batches('s3://bucket/tars/*.tar', '--order', 'window:4:2:2'), first)

    def test_another_version_is_indexed_anew(self):
        self.serve()
        first = self.batches('s3://bucket/tars/train-0.tar')
        self.make_tar(self.tars / 'train-0.tar', range(100, 130))
        second = self.batches('s3://bucket/tars/train-0.tar')
        self.assertNotEqual(second, first)
        self.assertEqual(second, self.batches(self.tars / 'train-0.tar'))

    def test_large_members_are_skipped(self):
        self.make_tar(self.tars / 'large.tar', range(8), large=3 << 20)
        server = self.serve()
        here = self.batches(self.tars / 'large.tar')
        self.assertEqual(self.batches('s3://bucket/tars/large.tar'), here)
        self.assertLess(self.fetched(server)[1], (self.tars / 'large.tar').stat().st_size / 4)

    def test_shards_are_those_of_the_disk(self):
        self.serve()
        for number, url in enumerate(['s3://bucket/tars', 's3://bucket/tars/train-{0..2}.tar']):
            self.run_recpack('pack', url, self.folder / f'there{number}', '--shards', 2, env=self.env)
            self.run_recpack('pack', url.replace('s3://', f'{self.folder}/'), self.folder / f'here{number}', '--shards', 2)
            self.assertEqual(self.contents(f'there{number}'), self.contents(f'here{number}'))

    def test_compressed_archives_are_packed_but_not_loaded(self):
        self.serve()
        (self.tars / 'train-3.tar.gz').write_bytes(gzip.compress((self.tars / 'train-1.tar').read_bytes()))
        done = self.run_recpack('batches', 's3://bucket/tars/train-3.tar.gz', '--recipe', 'imagenet-eval', env=self.env,
                                code=FAILURE)
        self.assertIn('s3://bucket/tars/train-3.tar.gz: is compressed', done.stderr)
        self.run_recpack('pack', 's3://bucket/tars/train-3.tar.gz', self.folder / 'there', env=self.env)
        self.run_recpack('pack', self.tars / 'train-3.tar.gz', self.folder / 'here')
        self.assertEqual(self.contents('there'), self.contents('here'))

    def test_faults_change_nothing(self):
        self.serve()
        here = self.batches(self.tars / '*.tar')
        for seed in range(3):
            self.serve(faults=Faults(0.2, seed=seed, kinds=('cut', '503', '500', 'reset', 'truncated', 'wrong_range')))
            self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{seed}')
            self.assertEqual(self.batches('s3://bucket/tars/*.tar'), here, seed)

    def test_errors_say_what_to_do(self):
        server = self.serve()
        shutil.copy(GOLDEN / 'image/real_422.jpg', self.tars / 'no.tar')
        whole = (self.tars / 'train-0.tar').read_bytes()
        (self.tars / 'cut.tar').write_bytes(whole[:len(whole) // 2])
        for url, reason in [('s3://bucket/tars/none.tar', 'there is no such object'),
                            ('s3://bucket/tars/none-*.tar', 'matches no object'),
                            ('s3://bucket/*/train-0.tar', 'only the last name may be one'),
                            ('s3://bucket/tars/no.tar', 'is not a tar archive'),
                            ('s3://bucket/tars/cut.tar', 'cut off'),
                            (f'{server.url}/web/bucket/tars/cut.tar?X-Amz-Signature=hidden', 'cut off')]:
            with self.subTest(url):
                done = self.run_recpack('batches', url, '--recipe', 'imagenet-eval', env=self.env, code=FAILURE)
                self.assertIn(reason, done.stderr)
                self.assertNotIn('hidden', done.stderr)


if __name__ == '__main__':
    unittest.main()
