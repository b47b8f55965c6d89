"""recpack pack from an object store: the bytes of a pack from the disk, many requests at once, and clear errors."""
import shutil
import unittest

from object_server import Faults
from store_case import StoreCase
from support import FAILURE


class StoreSource(StoreCase):
    def setUp(self):
        super().setUp()
        self.photos = self.class_folder(files=60, name='bucket/photos')

    def pack_url(self, url='s3://bucket/photos', *flags, out='out', **options):
        return self.run_recpack('pack', url, self.folder / out, *flags, env=self.env, **options)

    def local(self, *flags):
        self.run_recpack('pack', self.photos, self.folder / 'local', *flags)
        return self.contents('local')

    def test_the_bytes_are_those_of_a_local_pack(self):
        for number, flags in enumerate([('--shards', 3), ('--shards', 1, '--threads', 4), ('--shards', 2, '--threads', 1)]):
            with self.subTest(flags):
                server = self.serve()
                self.pack_url('s3://bucket/photos/', *flags, out=f'out{number}')
                shutil.rmtree(self.folder / 'local', ignore_errors=True)
                self.assertEqual(self.contents(f'out{number}'), self.local(*flags))
                fetched = [path for method, path, _ in server.requests if method == 'GET' and '.bin' in path]
                self.assertEqual(len(fetched), len(set(fetched)), 'no object is fetched twice')

    def test_names_with_odd_characters(self):
        odd = self.photos / 'ant' / 'a b+c%20é&.bin'
        shutil.copy(next((self.photos / 'ant').glob('*.bin')), odd)
        self.serve()
        self.pack_url()
        self.assertEqual(self.contents('out'), self.local())

    def test_folders_in_folders(self):
        for path in 'ant/deep/deeper/1.bin', 'ant/deep/2.bin', 'bee/deep/3.bin':
            (self.photos / path).parent.mkdir(parents=True, exist_ok=True)
            (self.photos / path).write_bytes(path.encode())
        self.serve()
        self.pack_url()
        self.assertEqual(self.contents('out'), self.local())

    def test_faults_change_nothing(self):
        self.serve(faults=Faults(0.2, seed=7, kinds=('cut', '503', '500', 'reset', 'truncated')))
        self.pack_url()
        self.assertEqual(self.contents('out'), self.local())

    def test_requests_run_at_once(self):
        server = self.serve(delay=0.2)
        self.pack_url('s3://bucket/photos', '--threads', 1, '--shards', 1)
        self.assertGreaterEqual(server.most_at_once, 16)

    def test_an_object_that_changed_since_the_listing_is_a_bad_item(self):
        server = self.serve()
        victim = sorted((self.photos / 'bee').glob('*.bin'))[3]
        server.after_listing = lambda prefix: prefix.endswith('bee/') and victim.write_bytes(victim.read_bytes() + b'more')
        done = self.pack_url(code=FAILURE)
        self.assertIn(f's3://bucket/photos/bee/{victim.name}: changed after it was listed', done.stderr)

    def test_an_object_that_vanished_may_be_skipped(self):
        server = self.serve()
        victim = sorted((self.photos / 'bee').glob('*.bin'))[3]
        server.after_listing = lambda prefix: prefix.endswith('bee/') and victim.unlink()
        done = self.pack_url('s3://bucket/photos', '--on-error', 'skip', '--max-skip', '10%')
        self.assertIn(victim.name, done.stdout + done.stderr)

    def test_shards_in_a_store_are_packed_anew(self):
        self.run_recpack('pack', self.photos, self.folder / 'bucket' / 'shards', '--shards', 2)
        self.serve()
        self.run_recpack('pack', self.folder / 'bucket' / 'shards', self.folder / 'local', '--shards', 5)
        self.pack_url('s3://bucket/shards', '--shards', 5)
        self.assertEqual(self.contents('out'), self.contents('local'))
        self.pack_url('s3://bucket/shards/', '--shards', 5, out='slash')
        self.assertEqual(self.contents('slash'), self.contents('local'))
        (self.folder / 'bucket' / 'shards' / 'manifest.json').unlink()  # listed from here on
        (self.folder / 'bucket' / 'shards' / 'train.recindex').unlink()
        self.pack_url('s3://bucket/shards', '--shards', 5, out='listed')
        self.assertIn('train.recindex', self.contents('listed'))
        shards = [name for name in self.contents('local') if name.endswith('.tfrecord')]
        for name in shards:
            self.assertEqual(self.contents('listed')[name], self.contents('local')[name])

    def test_a_store_is_packed_into_a_store(self):
        self.serve()
        self.run_recpack('pack', 's3://bucket/photos', 's3://bucket/made', env=self.env)
        self.assertEqual(self.contents('bucket/made'), self.local())

    def test_errors_name_the_url(self):
        self.serve()
        (self.folder / 'bucket' / 'empty').mkdir()
        for words, reason in [
                (['s3://bucket/none', self.folder / 'out'], 's3://bucket/none: holds no files'),
                (['s3://bucket/photos', self.folder / 'out', '--from', 'list'], 'are read from local files alone'),
                (['s3://bucket/photos', 's3://bucket/photos/shards'], 'lies within the folder to pack'),
                (['s3://bucket/photos/', 's3://bucket/photos/shards'], 'lies within the folder to pack'),
                (['https://127.0.0.1:9/photos', self.folder / 'out', '--from', 'folder'], 'has no listing')]:
            with self.subTest(reason):
                done = self.run_recpack('pack', *words, env=self.env, code=FAILURE)
                self.assertIn(reason, done.stderr)


if __name__ == '__main__':
    unittest.main()
