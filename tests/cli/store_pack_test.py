"""recpack pack into an object store: the bytes of a local pack, through faults and kill -9, and clear errors."""
import os
import random
import subprocess
import time
import unittest

from object_server import SECRET, Faults
from store_case import StoreCase
from support import CIFAR, FAILURE, RECPACK

TRANSIENT = ('cut', '503', '500', 'reset')


class Store(StoreCase):
    def setUp(self):
        super().setUp()
        (self.folder / 'bucket').mkdir()
        self.source = CIFAR / 'cifar-10-batches-py'

    def pack_to(self, url, *flags, source=None, **options):
        return self.run_recpack('pack', source or self.source, url, *flags, env=self.env, **options)

    def local(self, *flags, source=None):
        self.run_recpack('pack', source or self.source, self.folder / 'local', *flags)
        return self.contents('local')


class Packing(Store):
    def test_the_bytes_are_those_of_a_local_pack(self):
        server = self.serve()
        flags = '--shard-size', '20KB', '--dali-index'
        done = self.pack_to('s3://bucket/a/data/', *flags)
        self.assertIn('into s3://bucket/a/data in', done.stdout)
        self.assertEqual(self.contents('bucket/a/data'), self.local(*flags))
        self.assertEqual(server.uploads, {})
        last = [path for method, path, _ in server.requests if method == 'PUT'][-1]
        self.assertTrue(last.endswith('/manifest.json'))
        there = self.run_recpack('verify', 's3://bucket/a/data', env=self.env)
        self.assertIn('all is well', there.stdout)

    def test_large_shards_go_in_parts_and_take_no_space(self):
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 2500)
        server = self.serve()
        flags = '--shards', 1
        self.pack_to('s3://bucket/data', *flags, source=self.folder / 'made')
        parts = [path for method, path, _ in server.requests if 'partNumber=' in path]
        self.assertGreater(len(parts), 3)
        self.assertEqual(self.contents('bucket/data'), self.local(*flags, source=self.folder / 'made'))
        used = sum(path.stat().st_blocks * 512 for path in (self.folder / 'cache').rglob('*.tfrecord'))
        self.assertEqual(used, 0)

    def test_json_names_urls(self):
        self.serve()
        packed = self.json('pack', self.source, 's3://bucket/data', env=self.env)
        self.assertTrue(all(shard['path'].startswith('s3://bucket/data/') for shard in packed['shards']))
        self.assertTrue(packed['shards'])

    def test_again_is_done_already(self):
        server = self.serve()
        self.pack_to('s3://bucket/data')
        before = len(server.requests)
        self.assertIn('already existed', self.pack_to('s3://bucket/data').stdout)
        methods = {method for method, path, _ in server.requests[before:] if 'tfrecord' in path}
        self.assertNotIn('PUT', methods)

    def test_what_is_lost_in_the_store_is_packed_again(self):
        self.serve()
        self.pack_to('s3://bucket/data', '--shard-size', '20KB')
        expected = self.contents('bucket/data')
        shards = sorted((self.folder / 'bucket/data').glob('*.tfrecord'))
        shards[0].unlink()
        shards[1].write_bytes(b'short')
        self.pack_to('s3://bucket/data', '--shard-size', '20KB')
        self.assertEqual(self.contents('bucket/data'), expected)

    def test_a_removed_folder_is_forgotten(self):
        self.serve()
        self.pack_to('s3://bucket/data')
        expected = self.contents('bucket/data')
        for path in (self.folder / 'bucket/data').iterdir():
            path.unlink()
        self.pack_to('s3://bucket/data', '--shuffle', 3)  # other settings
        self.assertNotEqual(self.contents('bucket/data'), expected)

    def test_overwrite(self):
        server = self.serve()
        self.pack_to('s3://bucket/data', '--shard-size', '10KB')
        (self.folder / 'bucket/data/of-others.txt').write_text('kept')
        expected = self.local('--shard-size', '50KB') | {'of-others.txt': b'kept'}
        for cache in 'cache', 'of another machine':
            self.env['RECPACK_CACHE'] = str(self.folder / cache)
            done = self.pack_to('s3://bucket/data', '--shard-size', '50KB', code=FAILURE)
            self.assertRegex(done.stderr, r's3://bucket/data: there is something already: .*--overwrite')
            self.pack_to('s3://bucket/data', '--shard-size', '50KB', '--overwrite')
            self.assertEqual(self.contents('bucket/data'), expected)
            self.assertEqual(server.uploads, {})


class Interrupted(Store):
    def test_faults_change_nothing(self):
        expected = self.local('--shard-size', '20KB')
        for seed in range(int(os.environ.get('RECPACK_FAULT_SEEDS', 4))):
            faults = Faults(share=0.3, seed=seed + 1, kinds=TRANSIENT)
            server = self.serve(faults=faults)
            self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{seed}')
            self.pack_to(f's3://bucket/data-{seed}', '--shard-size', '20KB')
            self.assertEqual(self.contents(f'bucket/data-{seed}'), expected, seed)
            self.assertEqual(server.uploads, {})
            self.assertGreater(sum(faults.counts.values()), 0)

    def test_killed_and_gone_on(self):
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 2500)
        flags = '--shard-size', '20MB'
        source = self.folder / 'made'
        expected = self.local(*flags, source=source)
        server = self.serve(delay=0.01)
        generator = random.Random(7)
        kills = 0
        for attempt in range(int(os.environ.get('RECPACK_KILLS', 6))):
            url = f's3://bucket/data-{attempt}'
            longest = 0.6
            while self.is_killed('pack', source, url, *flags, within=generator.uniform(0.02, longest)):
                kills += 1
                longest *= 1.1  # a busy machine gets nothing done in 0.6 s
            self.assertEqual(self.contents(f'bucket/data-{attempt}'), expected)
            time.sleep(0.05)
            self.assertEqual(server.uploads, {})
        self.assertGreater(kills, 3)

    def test_the_second_of_two_jobs_does_not_replace_the_manifest(self):
        server = self.serve()
        other = b'{"of": "another job"}'

        class Racing(Faults):
            """Another job finishes while this one uploads its index."""

            def draw(inner):  # noqa: N805
                method, path, _ = server.requests[-1]
                if method == 'PUT' and path.endswith('.recindex'):
                    (self.folder / 'bucket/data').mkdir(exist_ok=True)
                    (self.folder / 'bucket/data/manifest.json').write_bytes(other)

        server.faults = Racing()
        done = self.pack_to('s3://bucket/data', code=FAILURE)
        self.assertIn('s3://bucket/data/manifest.json: another job wrote this object meanwhile', done.stderr)
        self.assertEqual((self.folder / 'bucket/data/manifest.json').read_bytes(), other)


class Tasks(Store):
    """Several tasks pack into one folder of a bucket, each on a machine of its own."""

    FLAGS = '--shard-size', '10KB'

    def task(self, task, *flags, machine=None, **options):
        self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{machine or task}')
        return self.pack_to('s3://bucket/data', '--task', task, *self.FLAGS, *flags, **options)

    def test_the_bytes_are_those_of_one(self):
        server = self.serve()
        for task in '2/3', '0/3':
            self.assertIn('shards of other tasks', self.task(task).stdout)
            self.assertFalse((self.folder / 'bucket/data/manifest.json').exists())
        self.task('1/3')
        expected = self.local(*self.FLAGS)
        self.assertEqual(self.contents('bucket/data'), expected)
        self.assertEqual(server.uploads, {})
        state = set(self.contents('bucket/data/.recpack'))
        self.assertEqual(state, {'plan.json'} | {f'{name}.json' for name in expected if name.endswith('.tfrecord')})

    def test_on_one_machine_at_once(self):
        self.serve(delay=0.002)
        self.env['RECPACK_CACHE'] = str(self.folder / 'cache')
        running = [subprocess.Popen([RECPACK, 'pack', self.source, 's3://bucket/data', *self.FLAGS, '--task', f'{i}/4'],
                                    env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for i in range(4)]
        for each in running:
            self.assertEqual((each.communicate()[1], each.returncode), ('', 0))
        self.assertEqual(self.contents('bucket/data'), self.local(*self.FLAGS))

    def test_goes_on_on_another_machine(self):
        server = self.serve()
        self.task('0/2')
        shards = sorted((self.folder / 'bucket/data').glob('*.tfrecord'))
        shards[1].unlink()
        before = len(server.requests)
        self.task('0/2', machine='another')
        put = {path.split('?')[0] for method, path, _ in server.requests[before:] if method == 'PUT' and '.recpack' not in path}
        self.assertEqual(put, {f'/bucket/data/{shards[1].name}'})
        self.task('1/2')
        self.assertEqual(self.contents('bucket/data'), self.local(*self.FLAGS))

    def test_the_tasks_of_another_job_are_refused(self):
        self.serve()
        self.task('0/2')
        for flags, machine in (('--shuffle', '3'), 'another'), (('--shuffle', '3'), '0/2'):
            done = self.task('1/2', *flags, machine=machine, code=FAILURE)
            self.assertIn('belongs to another pack job', done.stderr)

    def test_an_earlier_job_is_forgotten_where_the_folder_is_gone(self):
        self.serve()
        self.task('0/2', machine='one')
        for path in (self.folder / 'bucket/data').rglob('*'):
            if path.is_file():
                path.unlink()
        self.FLAGS = '--shard-size', '20KB'
        self.task('0/2', machine='one')
        self.task('1/2', machine='one')
        self.assertEqual(self.contents('bucket/data'), self.local(*self.FLAGS))

    def test_killed_and_gone_on(self):
        server = self.serve(delay=0.005)
        generator, kills, attempts = random.Random(int(os.environ.get('RECPACK_SEED', 3))), 0, 0
        waiting = [0, 1, 2]
        while waiting:
            task = generator.choice(waiting)
            self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{generator.randrange(2)}')
            attempts += 1
            if self.is_killed('pack', self.source, 's3://bucket/data', *self.FLAGS, '--task', f'{task}/3',
                              within=generator.uniform(0.05, 0.3 + attempts / 5)):
                kills += 1
            else:
                waiting.remove(task)
        self.assertGreater(kills, 2)
        self.assertEqual(self.contents('bucket/data'), self.local(*self.FLAGS))
        time.sleep(0.05)
        self.assertEqual(server.uploads, {})


class Refused(Store):
    def test_errors_say_what_to_do(self):
        server = self.serve()
        for url, flags, expected in (
                (f'{server.url}/web/data', (), 'a web server takes no objects; give an s3:// or gs:// URL'),
                ('s3://nowhere/data', (), 'there is no such bucket'),
                ('s3://bucket/data', ('--append', '--task', '0/2'), 'several tasks append to a folder on a disk only'),
                ('s3://bucket/data', ('--task', '0/2', '--overwrite'), 'one task cannot overwrite the output of the others')):
            done = self.pack_to(url, *flags, code=FAILURE)
            self.assertIn(expected, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)
            self.assertNotIn(SECRET, done.stderr)

    def test_a_key_that_may_not_write(self):
        self.serve()
        self.env['AWS_SECRET_ACCESS_KEY'] = 'another'
        done = self.pack_to('s3://bucket/data', code=FAILURE)
        self.assertIn('access was refused: HTTP status 403: SignatureDoesNotMatch', done.stderr)

    def test_dry_run_asks_nothing(self):
        server = self.serve()
        done = self.pack_to('s3://bucket/data', '--dry-run')
        self.assertIn('would write about', done.stdout)
        self.assertEqual(server.requests, [])


if __name__ == '__main__':
    unittest.main()
