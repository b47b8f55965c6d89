"""Data sets at URLs: the same bytes as from the disk, through faults, and errors that say what to do."""
import contextlib
import http.server
import json
import os
import shutil
import subprocess
import threading
import time
import unittest
import urllib.request

from object_server import ACCESS, ROLE, SECRET, Faults
from planted_link import Link
from store_case import StoreCase
from support import CIFAR, GOLDEN, RECPACK

# Faults that are seen in an answer. A corrupt byte is seen by its record's CRC.
SEEN = ('cut', '503', '500', 'reset', 'wrong_range', 'truncated')


class Urls(StoreCase):
    def setUp(self):
        super().setUp()
        self.pack(CIFAR / 'cifar-10-batches-py', out='bucket/data')
        self.local = self.folder / 'bucket/data'

    def batches(self, data, *flags):
        return self.run_recpack('batches', data, '--recipe', 'cifar10-train', '--batch-size', 16, '--epoch', 2,
                                '--json', *flags, env=self.env).stdout

    def without_path(self, text, path):
        return text.replace(str(path), 'DATA')


class Reading(Urls):
    def test_batches_are_those_of_the_disk(self):
        server = self.serve()
        for order in 'sequential', 'global', 'window:8:2:2':
            here = self.without_path(self.batches(self.local, '--order', order), self.local)
            for url in f'{server.url}/web/bucket/data', 's3://bucket/data', 's3://bucket/data/':
                there = self.batches(url, '--order', order)
                self.assertEqual(self.without_path(there, url.rstrip('/')), here, (url, order))

    def test_commands_take_urls(self):
        self.serve()
        for command in 'ls', 'verify':
            here = self.run_recpack(command, self.local, '--json', env=self.env).stdout
            there = self.run_recpack(command, 's3://bucket/data', '--json', env=self.env).stdout
            self.assertEqual(self.without_path(there, 's3://bucket/data'), self.without_path(here, self.local))
        shard = next(self.local.glob('train-*.tfrecord')).name
        here = self.run_recpack('cat', self.local / shard, env=self.env).stdout
        self.assertEqual(self.run_recpack('cat', f's3://bucket/data/{shard}', env=self.env).stdout, here)

    def test_pictures_and_audits_of_urls(self):
        self.serve()
        sheets = self.folder / 'here.png', self.folder / 'there.png'
        for data, sheet in zip((self.local, 's3://bucket/data'), sheets):
            self.run_recpack('sheet', data, sheet, env=self.env)
        self.assertEqual(*(sheet.read_bytes() for sheet in sheets))
        audit = self.folder / 'audit'
        self.run_recpack('batches', 's3://bucket/data', '--recipe', 'cifar10-train', '--batch-size', 16, '--audit', audit, env=self.env)
        self.assertTrue(self.json('audit', 's3://bucket/data', audit, env=self.env)['holds'])
        self.assertTrue(self.json('audit', self.local, audit)['holds'])

    def test_names_with_spaces_and_signs(self):
        self.serve()
        self.pack(CIFAR / 'cifar-10-batches-py', out='bucket/a + b/dätä%20')
        (self.folder / 'bucket/a + b/dätä%20/manifest.json').unlink()
        there = self.run_recpack('ls', 's3://bucket/a + b/dätä%20', '--json', env=self.env).stdout
        here = self.run_recpack('ls', self.folder / 'bucket/a + b/dätä%20', '--json').stdout
        self.assertEqual(there.replace('s3://bucket', 'DATA'), here.replace(str(self.folder / 'bucket'), 'DATA'))

    def test_a_folder_without_a_manifest_is_listed(self):
        self.serve()
        expected = self.batches(self.local, '--order', 'global')
        (self.local / 'manifest.json').unlink()
        there = self.batches('s3://bucket/data', '--order', 'global')
        self.assertEqual(self.without_path(there, 's3://bucket/data'), self.without_path(expected, self.local))

    def test_patterns_and_shards_of_any_name(self):
        self.serve()
        whole = self.json('ls', 's3://bucket/data', env=self.env)['splits']['train']['records']
        for pattern in 'train-*.tfrecord', 'train-{00000..00000}-of-00001.tfrecord', '*':
            found = self.json('ls', f's3://bucket/data/{pattern}', env=self.env)
            self.assertEqual(found['splits']['train']['records'], whole, pattern)
        self.fails('ls', 's3://bucket/data/none-*', env=self.env, saying='matches no object')
        self.fails('ls', 's3://bucket/data/*.json', env=self.env, saying='matches no shard')
        # Names are not patterns where they exist.
        shutil.copytree(self.local, self.folder / 'bucket/run[1]')
        self.assertEqual(self.json('ls', 's3://bucket/run[1]', env=self.env)['splits']['train']['records'], whole)
        shutil.copy(next(self.local.glob('train-*.tfrecord')), self.folder / 'bucket/part')
        there = self.run_recpack('cat', 's3://bucket/part', env=self.env).stdout
        self.assertEqual(there, self.run_recpack('cat', self.folder / 'bucket/part').stdout)

    def test_foreign_shards_are_read_through_once(self):
        for number in range(60):
            path = self.folder / f'files/a/{number:02}.bin'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes([number]) * 50_000)
        self.pack(self.folder / 'files', '--shard-size', '1MB', out='bucket/foreign')
        expected = self.run_recpack('cat', self.folder / 'bucket/foreign', '--record', '55').stdout
        for path in (self.folder / 'bucket/foreign').iterdir():
            if path.suffix != '.tfrecord':
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shards = len(list((self.folder / 'bucket/foreign').iterdir()))
        server, asked = self.serve(), []
        for _ in range(2):
            del server.requests[:]
            there = self.run_recpack('cat', 's3://bucket/foreign', '--record', '55', env=self.env).stdout
            self.assertEqual(there, expected)
            asked.append(sum(path.endswith('.tfrecord') for _, path, _ in server.requests))
        self.assertLess(asked[0], 14 * shards)  # of 20 records each
        self.assertLessEqual(asked[1], shards + 2)
        # Another version is read anew.
        first = min((self.folder / 'bucket/foreign').iterdir())
        (self.folder / 'bucket/foreign' / first.name).write_bytes(b'')
        self.fails('cat', 's3://bucket/foreign', '--record', '55', env=self.env, saying='the split has 45')

    def test_an_index_is_written_beside_the_shards(self):
        self.serve()
        index, expected = self.local / 'train.recindex', self.contents('bucket/data')
        index.unlink()
        done = self.run_recpack('index', 's3://bucket/data', env=self.env)
        self.assertIn('s3://bucket/data/train.recindex: 64 records', done.stdout)
        self.assertEqual(index.read_bytes(), expected[index.name])
        (self.folder / 'bucket/else').mkdir()
        self.run_recpack('index', 's3://bucket/data', '--out', 's3://bucket/else', env=self.env)
        self.assertEqual((self.folder / 'bucket/else/train.recindex').read_bytes(), expected[index.name])
        url = self.env['AWS_ENDPOINT_URL'] + '/web/bucket/data'
        self.fails('index', url, env=self.env, saying='a web server takes no index')
        self.run_recpack('index', url, '--out', self.folder / 'there', env=self.env)
        self.assertEqual((self.folder / 'there/train.recindex').read_bytes(), expected[index.name])

    def test_a_presigned_shard_needs_nothing_beside_it(self):
        server = self.serve()
        server.presigned = True
        shard = next(self.local.glob('train-*.tfrecord'))
        url = f'{server.url}/web/bucket/data/{shard.name}?X-Amz-Signature=secret%2F'
        flags = '--order', 'global'
        here = self.without_path(self.batches(shard, *flags), shard)
        self.assertEqual(self.without_path(self.batches(url, *flags), url), here)
        content = bytearray(shard.read_bytes())
        content[len(content) // 2] ^= 1
        shard.write_bytes(content)
        done = self.run_recpack('cat', url, env=self.env, code=2)
        self.assertIn(shard.name, done.stderr)
        self.assertNotIn('secret', done.stdout + done.stderr)
        for command in (('verify', url), ('batches', url, '--recipe', 'cifar10-train', '--batch-size', '64'),
                        ('pack', url, self.folder / 'again', '--from', 'tfrecord'), ('repair', url, self.folder / 'saved')):
            done = subprocess.run([RECPACK, *map(str, command)], env={**os.environ, **self.env}, capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertIn(shard.name, done.stdout + done.stderr)
            self.assertNotIn('secret', done.stdout + done.stderr, command)

    def test_small_objects_of_stores_that_refuse_longer_ranges(self):
        server = self.serve()
        server.strict_suffix = True
        flags = '--order', 'sequential'
        here = self.without_path(self.batches(self.local, *flags), self.local)
        self.assertEqual(self.without_path(self.batches('s3://bucket/data', *flags), 's3://bucket/data'), here)
        (self.local / 'manifest.json').write_bytes(b'')
        done = self.run_recpack('ls', 's3://bucket/data', env=self.env, code=2)
        self.assertIn('manifest.json: is not valid JSON', done.stderr)

    def test_no_byte_is_fetched_twice(self):
        # Larger than the read-ahead, which is 4,096 samples.
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 2000)
        self.pack(self.folder / 'made', out='bucket/large')
        server = self.serve()
        flags = '--recipe', 'cifar10-train', '--batch-size', 50
        self.run_recpack('batches', 's3://bucket/large', *flags, '--order', 'sequential', env=self.env)
        shard = next((self.folder / 'bucket/large').glob('train-*.tfrecord'))
        times = bytearray(shard.stat().st_size)
        requests = [given.removeprefix('bytes=').split('-') for _, path, given in server.requests
                    if path.endswith(shard.name)]
        for first, last in requests:
            if first:  # others are of the last bytes, when it is opened
                times[int(first):int(last) + 1] = bytes(1 + n for n in times[int(first):int(last) + 1])
        self.assertEqual(set(times[:-65536]), {1})  # the last ones came when it was opened
        self.assertLessEqual(set(times), {0, 1})
        self.assertLess(len(requests), 8000 / 10)  # neighbours come together
        self.assertEqual({method for method, _, _ in server.requests}, {'GET'})

    def test_verify_fetches_each_byte_once(self):
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 2000)
        self.pack(self.folder / 'made', out='bucket/large')
        shard = next((self.folder / 'bucket/large').glob('train-*.tfrecord'))
        server = self.serve()
        self.run_recpack('verify', 's3://bucket/large', env=self.env)
        ranges = [given.removeprefix('bytes=').split('-') for _, path, given in server.requests
                  if path.endswith(shard.name)]
        fetched = sum(int(last) + 1 - int(first or 0) for first, last in ranges)
        self.assertLess(fetched, 1.02 * shard.stat().st_size)

    def test_all_epochs_come_from_what_was_announced(self):
        """The data set is smaller than the read-ahead: each range is announced before its last use is over."""
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 500)
        self.pack(self.folder / 'made', out='bucket/small')
        shard = next((self.folder / 'bucket/small').glob('train-*.tfrecord'))
        server = self.serve(delay=0.005)
        for order in 'global', 'window:4:2:2':
            begin = len(server.requests)
            self.run_recpack('batches', 's3://bucket/small', '--recipe', 'cifar10-train', '--batch-size', 50, '--order', order,
                             '--limit', 8 * 40, env=self.env)
            ranges = [given.removeprefix('bytes=').split('-') for _, path, given in server.requests[begin:]
                      if path.endswith(shard.name)]
            fetched = sum(int(last) + 1 - int(first) for first, last in ranges if first)
            self.assertLess(fetched, 1.5 * shard.stat().st_size, order)  # of eight epochs; late ranges twice

    def test_a_first_batch_takes_four_requests_in_turn(self):
        server = self.serve(delay=0.05)
        self.run_recpack('batches', 's3://bucket/data', '--recipe', 'cifar10-train', '--batch-size', 16,
                         '--order', 'sequential', '--limit', 1, env=self.env)
        kinds = [path.rsplit('/', 1)[1].partition('-')[0] + ('' if given is None else ' range')
                 for _, path, given in server.requests]
        self.assertEqual(kinds[:2], ['manifest.json range', 'train.recindex range'])
        self.assertEqual(set(kinds[2:]), {'train range'})
        self.assertEqual(kinds.count('manifest.json range'), 1)


class Cached(Urls):
    """Records that are kept on the disk: RECPACK_CACHE_BYTES."""

    def setUp(self):
        super().setUp()
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 100)
        self.pack(self.folder / 'made', out='bucket/large')
        self.server = self.serve()
        self.env['RECPACK_CACHE_BYTES'] = '1GB'
        self.shard = next((self.folder / 'bucket/large').glob('train-*.tfrecord'))

    def epochs(self, count, env=(), url='s3://bucket/large', **options):
        done = self.run_recpack('batches', url, '--recipe', 'cifar10-train', '--batch-size', 20, '--seed', 3,
                                '--epoch', count, '--json', '--order', 'global', env=self.env | dict(env), **options)
        return done.stdout.replace(str(url), 'DATA')

    def fetched(self, begin=0):
        """Bytes of the shard that were asked for, but for those at its end."""
        ranges = [given.removeprefix('bytes=').split('-') for _, path, given in self.server.requests[begin:]
                  if path.endswith(self.shard.name)]
        return sum(int(last) - int(first) + 1 for first, last in ranges if first)

    def needed(self, begin=0):
        """Bytes of the shard that were asked for once or more: a slow answer is asked for again."""
        asked = bytearray(self.shard.stat().st_size)
        for _, path, given in self.server.requests[begin:]:
            first, last = given.removeprefix('bytes=').split('-')
            if path.endswith(self.shard.name) and first:
                asked[int(first):int(last) + 1] = b'\1' * (int(last) + 1 - int(first))
        return sum(asked)

    def test_the_second_time_comes_from_the_disk(self):
        expected = self.epochs(0, url=self.folder / 'bucket/large')
        self.assertEqual(self.epochs(0), expected)
        size = self.shard.stat().st_size
        self.assertLess(self.fetched(), 1.2 * size)  # nothing of the next epoch; late ranges twice
        self.assertGreater(self.fetched(), 0.8 * size)
        begin = len(self.server.requests)
        self.assertEqual(self.epochs(0), expected)
        self.assertLess(self.fetched(begin), 0.02 * size)
        use = self.json('cache', env=self.env)
        self.assertEqual((use['limit_bytes'], use['records']['objects']), (10 ** 9, 1))
        self.assertGreater(use['records']['bytes'], 0.8 * size)
        self.run_recpack('cache', '--clear', env=self.env)
        self.assertEqual(self.json('cache', env=self.env)['records'], {'objects': 0, 'bytes': 0})

    def test_a_cache_of_a_fifth_gives_a_fifth(self):
        """Uses photos: rows of 3 KB share pages of the disk, so that fewer fit."""
        (self.folder / 'photos/all').mkdir(parents=True)
        for number in range(60):
            shutil.copy(GOLDEN / 'image/real_422.jpg', self.folder / f'photos/all/{number}.jpg')
        self.pack(self.folder / 'photos', out='bucket/photos')
        self.shard = next((self.folder / 'bucket/photos').glob('*.tfrecord'))

        def epoch(number, **env):
            begin = len(self.server.requests)
            self.run_recpack('batches', 's3://bucket/photos', '--recipe', 'imagenet-eval', '--batch-size', 8, '--epoch',
                             number, '--order', 'global', env=self.env | env)
            return self.needed(begin)

        without = epoch(1, RECPACK_CACHE_BYTES='0')
        size = self.shard.stat().st_size
        self.env['RECPACK_CACHE_BYTES'] = str(size // 5)
        epoch(0)
        for number in 1, 2:
            self.assertLess(epoch(number), 0.92 * without)
        self.assertLessEqual(self.json('cache', env=self.env)['records']['bytes'], size // 5 + 65536)

    def test_another_version_is_not_mixed_with_the_first(self):
        first = self.epochs(0)
        self.pack(self.folder / 'made', '--shuffle', 9, out='again')
        for path in (self.folder / 'again').iterdir():
            if path.is_file():
                (self.folder / 'bucket/large' / path.name).write_bytes(path.read_bytes())
        expected = self.epochs(0, url=self.folder / 'bucket/large')
        self.assertNotEqual(first, expected)
        self.assertEqual(self.epochs(0), expected)
        self.assertEqual(self.json('cache', env=self.env)['records']['objects'], 2)

    def test_damage_on_the_disk_is_fetched_again(self):
        expected = self.epochs(0)
        data = next((self.folder / 'cache/data').glob('*.data'))
        with data.open('r+b') as file:
            for at in range(5000, data.stat().st_size - 70000, 40000):
                file.seek(at)
                byte = file.read(1)
                file.seek(at)
                file.write(bytes([byte[0] ^ 1]))
        self.assertEqual(self.epochs(0), expected)
        begin = len(self.server.requests)
        self.assertEqual(self.epochs(0), expected)
        self.assertLess(self.fetched(begin), 0.02 * self.shard.stat().st_size)  # it was mended

    def test_killed_processes_leave_nothing_wrong(self):
        expected = self.epochs(0)
        self.run_recpack('cache', '--clear', env=self.env)
        self.server.delay = 0.005
        for seconds in 0.05, 0.1, 0.15, 0.2, 0.3:
            running = subprocess.Popen([RECPACK, 'batches', 's3://bucket/large', '--recipe', 'cifar10-train',
                                        '--epoch', '4'], env={**os.environ, **self.env},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            running.kill()
            running.wait()
        self.assertEqual(self.epochs(0), expected)

    def test_several_processes_at_once(self):
        expected = self.epochs(0, env={'RECPACK_CACHE_BYTES': '0'})
        words = [RECPACK, 'batches', 's3://bucket/large', '--recipe', 'cifar10-train', '--batch-size', '20', '--seed',
                 '3', '--epoch', '0', '--json', '--order', 'global']
        running = [subprocess.Popen(words, env={**os.environ, **self.env}, stdout=subprocess.PIPE, text=True)
                   for _ in range(3)]
        for each in running:
            self.assertEqual(each.communicate()[0].replace('s3://bucket/large', 'DATA'), expected)

    def test_the_least_recently_opened_is_removed(self):
        self.pack(self.folder / 'made', '--shuffle', 5, out='bucket/other')
        size = self.shard.stat().st_size
        self.env['RECPACK_CACHE_BYTES'] = str(int(1.2 * size))
        self.epochs(0)
        self.epochs(0, url='s3://bucket/other')
        use = self.json('cache', env=self.env)['records']
        self.assertLessEqual(use['bytes'], 1.25 * size)
        begin = len(self.server.requests)
        self.epochs(0, url='s3://bucket/other')
        self.assertFalse([path for _, path, given in self.server.requests[begin:]
                          if 'train-' in path and not given.startswith('bytes=-')])

    def test_a_size_that_is_none(self):
        self.env['RECPACK_CACHE_BYTES'] = 'much'
        done = self.run_recpack('cat', f's3://bucket/large/{self.shard.name}', '--record', 1, env=self.env, code=2)
        self.assertIn("RECPACK_CACHE_BYTES is not a size: 'much'; write it like 100MB", done.stderr)


class Nth(Faults):
    """One fault, at the request of this number."""

    def __init__(self, kind, number):
        super().__init__()
        self.kind, self.left = kind, number

    def draw(self):
        self.left -= 1
        if self.left != -1:
            return None
        self.counts[self.kind] = 1
        return self.kind


class Faulty(Urls):
    def test_faults_change_nothing(self):
        self.serve()
        expected = self.without_path(self.batches(self.local, '--order', 'global'), self.local)
        drawn = 0
        for seed in range(int(os.environ.get('RECPACK_FAULT_SEEDS', 4))):
            faults = Faults(share=0.3, seed=seed, kinds=SEEN)
            self.serve(faults=faults)
            there = self.batches('s3://bucket/data', '--order', 'global')
            self.assertEqual(self.without_path(there, 's3://bucket/data'), expected, seed)
            drawn += sum(faults.counts.values())
        self.assertGreater(drawn, 4)

    def test_faults_of_opening(self):
        """Each fault at each of the requests that come before the first record's."""
        self.serve()
        flags = '--order', 'sequential', '--limit', 1
        for listed in False, True:
            if listed:
                (self.local / 'manifest.json').unlink()
            expected = self.without_path(self.batches(self.local, *flags), self.local)
            for kind in SEEN:
                for number in range(4):
                    server = self.serve(faults=Nth(kind, number))
                    self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{listed}-{kind}-{number}')
                    there = self.batches('s3://bucket/data', *flags)
                    self.assertEqual(self.without_path(there, 's3://bucket/data'), expected, (listed, kind, number))
                    self.assertEqual(server.faults.counts, {kind: 1})

    def test_a_stalled_answer_is_asked_for_a_second_time(self):
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 100)
        self.pack(self.folder / 'made', out='bucket/large')
        server = self.serve()
        flags = ('--recipe', 'cifar10-train', '--batch-size', 50, '--epoch', 2, '--json', '--order', 'global', '--limit', 6)
        expected = self.run_recpack('batches', 's3://bucket/large', *flags, env=self.env).stdout

        class SomeStall(Faults):
            def draw(inner):  # noqa: N805
                _, path, given = server.requests[-1]
                if 'train-' not in path or given.startswith('bytes=-'):
                    return None
                inner.counts['asked'] = inner.counts.get('asked', 0) + 1
                return 'stall' if inner.counts['asked'] % 40 == 7 else None

        server.faults = SomeStall()
        begin = len(server.requests)
        self.assertEqual(self.run_recpack('batches', 's3://bucket/large', *flags, env=self.env).stdout, expected)
        ranges = [given for _, path, given in server.requests[begin:] if 'train-' in path]
        self.assertGreater(len(ranges), len(set(ranges)))  # some came twice

    def test_a_damaged_answer_is_fetched_again(self):
        server = self.serve()
        expected = self.without_path(self.batches(self.local, '--order', 'global'), self.local)

        class OneOfTheShard(Faults):
            def draw(self):
                _, path, given = server.requests[-1]
                if self.counts or 'train-' not in path or given.startswith('bytes=-'):
                    return None
                self.counts['corrupt'] = 1
                return 'corrupt'

        server.faults = OneOfTheShard()
        there = self.batches('s3://bucket/data', '--order', 'global')
        self.assertEqual(self.without_path(there, 's3://bucket/data'), expected)
        self.assertEqual(server.faults.counts, {'corrupt': 1})

    def test_damage_in_the_store_is_an_error_with_its_place(self):
        self.serve()
        path = next(self.local.glob('train-*.tfrecord'))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        done = self.run_recpack('batches', 's3://bucket/data', '--recipe', 'cifar10-train', '--batch-size', 16,
                                env=self.env, code=2)
        self.assertRegex(done.stderr, r's3://bucket/data/train-\S+ at byte \d+ \(record \d+\): ')

    def test_repair_to_a_local_folder(self):
        self.serve()
        path = next(self.local.glob('train-*.tfrecord'))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        self.run_recpack('repair', 's3://bucket/data', self.folder / 'saved', env=self.env, code=1)
        self.assertEqual(self.json('ls', self.folder / 'saved')['splits']['train']['records'], 63)

    def test_a_changed_object_is_an_error(self):
        server = self.serve()
        path = next(self.local.glob('train-*.tfrecord'))
        data = path.read_bytes()

        class AfterTheFirst(Faults):  # the version that was opened is gone
            def draw(self):
                if any('train-' in path and not given.startswith('bytes=-') for _, path, given in server.requests):
                    path.write_bytes(data[:-1] + b'x')

        server.faults = AfterTheFirst()
        done = self.run_recpack('batches', 's3://bucket/data', '--recipe', 'cifar10-train', '--batch-size', 16,
                                '--order', 'global', env=self.env, code=2)
        self.assertIn('changed while it was read', done.stderr)


class Identities(Urls):
    def sources(self, server):
        """Environment by source of credentials, without those of serve()."""
        (self.folder / 'web').write_text('web/token+\n')
        (self.folder / 'given').write_bytes(server.given('SessionToken'))
        (self.folder / 'config').write_text(f'[default]\ncredential_process = cat {self.folder}/given\n')
        (self.folder / 'pass').write_text('pass\n')
        return {
            "the profile's credential_process": {'AWS_CONFIG_FILE': str(self.folder / 'config')},
            'the web identity': {'AWS_WEB_IDENTITY_TOKEN_FILE': str(self.folder / 'web'),
                                 'AWS_ROLE_ARN': 'arn:aws:iam::1:role/a', 'AWS_ENDPOINT_URL_STS': server.url},
            'the container': {'AWS_CONTAINER_CREDENTIALS_FULL_URI': f'{server.url}/container',
                              'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE': str(self.folder / 'pass')},
            "the instance's role": {'AWS_EC2_METADATA_SERVICE_ENDPOINT': server.url}}

    def serve_without_keys(self):
        server = self.serve()
        self.env = {'RECPACK_CACHE': str(self.folder / 'cache'), 'AWS_REGION': self.env['AWS_REGION'],
                    'AWS_ENDPOINT_URL': server.url, 'HOME': str(self.folder),
                    'AWS_ACCESS_KEY_ID': '', 'AWS_SECRET_ACCESS_KEY': ''}
        return server

    def test_each_source_gives_credentials(self):
        server = self.serve_without_keys()
        for source, env in self.sources(server).items():
            self.assertEqual(self.json('ls', 's3://bucket/data', env={**self.env, **env})['splits']['train']['records'],
                             64, source)
            self.fails('ls', 's3://nobucket/data', env={**self.env, **env}, saying='no such bucket')
            done = self.run_recpack('ls', 's3://bucket/data', env={**self.env, **env, 'AWS_REGION': 'x'}, code=2)
            self.assertIn(f'credentials are those of {source}', done.stderr)

    def test_roles_of_profiles(self):
        self.serve_without_keys()
        keys = f'aws_access_key_id = {ACCESS}\naws_secret_access_key = {SECRET}\n'
        (self.folder / 'keys').write_text(json.dumps({'Version': 1, 'AccessKeyId': ACCESS, 'SecretAccessKey': SECRET}))
        (self.folder / 'web').write_text('web/token+\n')
        role = f'[profile trainer]\nrole_arn = {ROLE}\nexternal_id = external\n'
        env = {**self.env, 'AWS_CONFIG_FILE': str(self.folder / 'config'), 'AWS_PROFILE': 'trainer',
               'AWS_ENDPOINT_URL_STS': self.env['AWS_ENDPOINT_URL']}
        for config in (f'[profile me]\n{keys}{role}source_profile = me\n',
                       f'{role}source_profile = trainer\n{keys}',
                       f'[profile me]\ncredential_process = cat {self.folder}/keys\n{role}source_profile = me\n',
                       f'{role}web_identity_token_file = {self.folder}/web\n'):
            (self.folder / 'config').write_text(config)
            self.run_recpack('ls', 's3://bucket/data', env=env)
            done = self.run_recpack('ls', 's3://bucket/data', env={**env, 'AWS_REGION': 'x'}, code=2)
            self.assertIn(f'the role {ROLE} of the profile', done.stderr)
        other = role.replace('external\n', 'other\n')
        for config, saying in (
                (f'{role}source_profile = nobody\n', "no profile 'nobody', the source_profile of 'trainer'"),
                (role, 'a role_arn, but nothing that assumes it; add source_profile'),
                (f'{role}mfa_serial = x\nsource_profile = me\n', 'asks for a code (mfa_serial); write credential_process'),
                ('[profile trainer]\nsso_session = x\n', 'signs in with SSO; write credential_process = aws configure'),
                (f'{role}credential_source = Environment\n', 'there are no credentials that may assume it'),
                (f'[profile me]\n{keys}{other}source_profile = me\n', 'HTTP status 403')):
            (self.folder / 'config').write_text(config)
            with self.subTest(saying):
                self.fails('ls', 's3://bucket/data', env=env, saying=saying)

    def test_the_requester_pays_where_that_is_asked_for(self):
        server = self.serve_without_keys()
        env = {**self.env, 'AWS_ACCESS_KEY_ID': ACCESS, 'AWS_SECRET_ACCESS_KEY': SECRET}
        server.payer = 'requester'
        self.run_recpack('verify', 's3://bucket/data', env={**env, 'AWS_REQUEST_PAYER': 'requester'})
        self.fails('ls', 's3://bucket/data', env=env, saying='the requester pays')
        self.fails('ls', 's3://bucket/data', env={**env, 'AWS_REQUEST_PAYER': 'me'},
                   saying="AWS_REQUEST_PAYER is 'me'; set it to requester")

    def test_credentials_are_renewed_before_they_expire(self):
        server = self.serve_without_keys()
        env = {**self.env, **self.sources(server)['the container']}
        for valid, renewed in (3600, False), (200, True):
            server.valid = valid
            del server.requests[:]
            self.run_recpack('ls', 's3://bucket/data', env=env)
            asked = [path for _, path, _ in server.requests].count('/container')
            self.assertEqual(asked > 1, renewed, valid)

    def test_a_training_outlives_its_credentials(self):
        """Most of the data is requested when the first credentials have expired."""
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 2000)
        self.pack(self.folder / 'made', '--shard-size', '200KB', out='bucket/large')
        server = self.serve_without_keys()
        server.link, server.valid, server.renews = Link(bytes_per_second=4e6), 2, True
        env = {**self.env, **self.sources(server)['the container']}
        flags = '--recipe', 'cifar10-train', '--batch-size', 50, '--order', 'global', '--json'
        there = self.run_recpack('batches', 's3://bucket/large', *flags, env=env).stdout
        here = self.run_recpack('batches', self.folder / 'bucket/large', *flags).stdout
        self.assertEqual(self.without_path(there, 's3://bucket/large'),
                         self.without_path(here, self.folder / 'bucket/large'))
        self.assertGreater(len(server.tokens), 2)

    def test_a_request_that_arrives_too_late_is_signed_anew(self):
        server = self.serve()
        server.planted = [(400, 'ExpiredToken', {})]
        self.run_recpack('ls', 's3://bucket/data', env=self.env)
        self.assertFalse(server.planted)

    def test_a_source_that_fails_is_named(self):
        server = self.serve_without_keys()
        sources = self.sources(server)
        for source, change in (
                ("the profile's credential_process", lambda: (self.folder / 'given').unlink()),
                ('the web identity', lambda: (self.folder / 'web').write_text('other')),
                ('the container', lambda: (self.folder / 'pass').write_text('other'))):
            change()
            self.fails('ls', 's3://bucket/data', env={**self.env, **sources[source]},
                       saying=[source, 'gave no credentials', 'RECPACK_S3_ANONYMOUS'])


class Endless(http.server.BaseHTTPRequestHandler):
    """Answers that never end: as the path says, headers, a listing, or a file without ranges."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.endswith(('manifest.json', '.recindex')) and 'headers' not in self.path:
            return self.send_error(404)
        piece, length = b'x' * (1 << 16), 1 << 40
        self.wfile.write(b'HTTP/1.1 200 OK\r\n')
        if 'headers' in self.path:
            piece = b'a: ' + b'x' * 1000 + b'\r\n'
        else:
            self.wfile.write(f'Content-Length: {length}\r\n\r\n'.encode())
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(piece)


class Proxy(http.server.BaseHTTPRequestHandler):
    """Forwards requests for plain HTTP, and refuses tunnels."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        request = urllib.request.Request(self.path, headers=dict(self.headers.items()))
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request) as answer:
            body = answer.read()
            self.send_response(answer.status)
            for name in 'ETag', 'Content-Range':
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def do_CONNECT(self):
        self.send_error(407)


class Ways(Urls):
    """TLS and proxies."""

    def proxy(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Proxy)
        server.daemon_threads, server.asked = True, []
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server, f'http://127.0.0.1:{server.server_port}'

    def test_authorities_of_ones_own_are_trusted(self):
        self.serve(certificate=GOLDEN / 'tls/server.pem')
        here = self.run_recpack('ls', self.local, '--json').stdout
        names = 'AWS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'SSL_CERT_FILE'
        for name in names:
            env = {**self.env, **dict.fromkeys(names, ''), name: str(GOLDEN / 'tls/authority.pem')}
            there = self.run_recpack('ls', 's3://bucket/data', '--json', env=env).stdout
            self.assertEqual(self.without_path(there, 's3://bucket/data'), self.without_path(here, self.local))

    def test_certificates_that_are_not_trusted(self):
        server = self.serve(certificate=GOLDEN / 'tls/server.pem')
        once = 'failed: '  # and not for a minute
        for changed in {}, {'AWS_CA_BUNDLE': str(self.folder / 'none.pem')}:
            self.fails('ls', 's3://bucket/data', env={**self.env, **changed}, saying=[once, 'certificate', 'AWS_CA_BUNDLE'])
        other = {'AWS_CA_BUNDLE': str(GOLDEN / 'tls/authority.pem'),
                 'AWS_ENDPOINT_URL': server.url.replace('127.0.0.1', 'localhost')}
        self.fails('ls', 's3://bucket/data', env={**self.env, **other}, saying=[once, 'localhost', 'AWS_CA_BUNDLE'])
        self.assertEqual(server.requests, [])

    def test_proxies_are_used(self):
        server, (proxy, url) = self.serve(), self.proxy()
        here = self.run_recpack('ls', self.local, '--json').stdout
        data = f'{server.url}/web/bucket/data'
        there = self.run_recpack('ls', data, '--json', env={**self.env, 'http_proxy': url, 'no_proxy': ''}).stdout
        self.assertEqual(self.without_path(there, data), self.without_path(here, self.local))
        self.assertTrue(proxy.asked)
        proxy.asked.clear()
        shutil.rmtree(self.folder / 'cache', ignore_errors=True)
        self.run_recpack('ls', data, env={**self.env, 'http_proxy': url, 'no_proxy': '127.0.0.1'})
        self.assertFalse(proxy.asked)

    def test_proxies_that_refuse_or_are_unknown(self):
        _, url = self.proxy()
        self.serve()
        for name in url, 'http://no-such-proxy.invalid:3128':
            self.fails('ls', 'https://127.0.0.1:9/data.tfrecord', env={**self.env, 'https_proxy': name, 'no_proxy': ''},
                       saying=['proxy', 'no_proxy'])


class Refused(Urls):
    def test_answers_without_end_are_left(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Endless)
        server.daemon_threads = True
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {'RECPACK_CACHE': str(self.folder / 'cache'), 'RECPACK_S3_ANONYMOUS': '1',
               'AWS_ENDPOINT_URL': f'http://127.0.0.1:{server.server_port}'}
        for url, saying in (('s3://bucket/headers', 'larger than any should be'),
                            ('s3://bucket/listing', 'larger than any should be'),
                            ('s3://bucket/a.tfrecord', 'does not send ranges')):
            self.fails('ls', url, env=env, saying=saying)

    def test_errors_say_what_to_do(self):
        self.serve()
        for url, saying in (('s3://nobucket/data', 'there is no such bucket; did you mean s3://bucket?'),
                            ('s3://another/data', 'there is no such bucket; check the name'),
                            ('s3://bucket/none', 'neither a manifest.json nor a TFRecord file'),
                            ('s3://bucket/none/train-00000-of-00001.tfrecord', 'no such object'),
                            ('s3://', 'has no bucket'),
                            (self.env['AWS_ENDPOINT_URL'] + '/web/none', 'no listing')):
            self.fails('ls', url, env=self.env, saying=saying)

    def test_refusals_are_told_by_their_code(self):
        server = self.serve()
        for answer, saying in (((400, 'ExpiredToken', {}), ['log in again', 'the environment (AWS_ACCESS_KEY_ID)']),
                               ((400, 'InvalidToken', {}), 'log in again'),
                               ((403, 'RequestTimeTooSkewed', {}), "set this machine's clock"),
                               ((301, 'PermanentRedirect', {'x-amz-bucket-region': 'eu-west-3'}),
                                "set AWS_REGION to the bucket's region, eu-west-3")):
            server.planted = [answer] * 9
            self.fails('ls', 's3://bucket/data', env=self.env, saying=saying)
        server.planted = ()
        self.fails('ls', 's3://bucket/data', env={**self.env, 'AWS_REGION': 'us-west-1'},
                   saying="set AWS_REGION to the bucket's region, eu-central-1")

    def test_wrong_credentials_are_named_by_their_source(self):
        self.serve()
        for changed, saying in (({'AWS_SECRET_ACCESS_KEY': 'other'}, 'SignatureDoesNotMatch'),
                                ({'AWS_ACCESS_KEY_ID': 'other'}, 'InvalidAccessKeyId'),
                                ({'AWS_REGION': 'us-west-1'}, 'AuthorizationHeaderMalformed'),
                                ({'RECPACK_S3_ANONYMOUS': '1'}, 'so the request was anonymous')):
            self.fails('ls', 's3://bucket/data', env={**self.env, **changed}, saying=saying)
        done = self.run_recpack('ls', 's3://bucket/data', env={**self.env, 'AWS_SECRET_ACCESS_KEY': SECRET + 'x'},
                                code=2)
        self.assertIn('the environment (AWS_ACCESS_KEY_ID)', done.stderr)
        self.assertNotIn(SECRET, done.stderr)

    def test_credentials_do_not_go_over_plain_http_to_others(self):
        self.serve()
        self.fails('ls', 's3://bucket/data', env={**self.env, 'AWS_ENDPOINT_URL': 'http://192.0.2.1:9000'},
                   saying=['plain HTTP', 'RECPACK_ALLOW_HTTP'])

    def test_local_use_loads_no_libcurl(self):
        self.serve()
        env = {**self.env, 'LD_DEBUG': 'libs'}
        loads = {data: 'libcurl' in self.run_recpack('ls', data, env=env).stderr
                 for data in (str(self.local), 's3://bucket/data')}
        self.assertEqual(loads, {str(self.local): False, 's3://bucket/data': True})


if __name__ == '__main__':
    unittest.main()
