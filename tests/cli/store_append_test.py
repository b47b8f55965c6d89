"""recpack pack --append to a data set in an object store: as on a disk, through faults, kill -9 and other jobs."""
import os
import random
import shutil
import subprocess
import threading
import time
import unittest

from object_server import ACCESS, SECRET, Faults
from store_case import StoreCase
from support import CIFAR, FAILURE, GOLDEN, RECPACK

SOURCE = CIFAR / 'cifar-10-batches-py'
URL = 's3://bucket/data'
FIRST = '--shard-size', '20KB'
SECOND = '--shard-size', '30KB', '--shuffle', '2', '--append'
THIRD = '--shuffle', '3', '--append'


class Append(StoreCase):
    def setUp(self):
        super().setUp()
        (self.folder / 'bucket').mkdir()

    def pack(self, *flags, machine='one', url=URL, **options):
        self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{machine}')
        return self.run_recpack('pack', SOURCE, url, *flags, env=self.env, **options)

    def local(self, *jobs):
        """The files of jobs that a disk has had, one after the other."""
        for flags in jobs:
            self.run_recpack('pack', SOURCE, self.folder / 'local', *flags)
        return self.contents('local')

    def manifest(self):
        return self.folder / 'bucket/data/manifest.json'

    def state(self):
        return set(self.contents('bucket/data/.recpack'))


class Appending(Append):
    def test_the_bytes_are_those_of_a_disk(self):
        server = self.serve()
        self.pack(*FIRST, '--dali-index')
        self.pack(*SECOND, '--dali-index')
        self.pack(*THIRD, '--dali-index', machine='another')
        expected = self.local(*((*flags, '--dali-index') for flags in (FIRST, SECOND, THIRD)))
        self.assertEqual(self.contents('bucket/data'), expected)
        self.assertEqual(self.state(), {'plan-append1.json', 'plan-append2.json'})
        self.assertEqual(server.uploads, {})
        last = [path for method, path, _ in server.requests if method == 'PUT'][-1]
        self.assertTrue(last.endswith('/manifest.json'))
        self.assertIn('all is well', self.run_recpack('verify', URL, env=self.env).stdout)

    def test_again_is_done_already(self):
        server = self.serve()
        self.pack(*FIRST)
        self.pack(*SECOND)
        expected, before = self.contents('bucket/data'), len(server.requests)
        self.pack(*SECOND)
        self.assertEqual([path for method, path, _ in server.requests[before:] if method == 'PUT'], [])
        self.pack(*SECOND, machine='another')
        self.assertEqual(self.contents('bucket/data'), expected)

    def test_an_index_that_the_store_has_lost_is_made_again(self):
        self.serve()
        self.pack(*FIRST)
        for path in (self.folder / 'bucket/data').glob('*.recindex'):
            path.unlink()
        self.pack(*SECOND)
        self.assertEqual(self.contents('bucket/data'), self.local(FIRST, SECOND))

    def test_to_a_data_set_that_replaced_the_one_appended_to(self):
        self.serve()
        self.pack(*FIRST)
        self.pack(*SECOND)
        self.pack(*THIRD, machine='another')
        self.pack(*FIRST, '--overwrite', machine='another')
        self.assertEqual(self.state(), set())
        self.pack(*SECOND)
        self.assertEqual(self.contents('bucket/data'), self.local(FIRST, SECOND))

    def test_the_generations_of_google(self):
        server = self.serve()
        self.env |= {'GS_ACCESS_KEY_ID': ACCESS, 'GS_SECRET_ACCESS_KEY': SECRET, 'STORAGE_EMULATOR_HOST': server.url}
        self.pack(*FIRST, url='gs://bucket/data')
        self.pack(*SECOND, url='gs://bucket/data')
        self.assertEqual(self.contents('bucket/data'), self.local(FIRST, SECOND))
        server.faults = Moment(server, 'manifest.json', lambda: self.manifest().write_bytes(b'{}'))
        done = self.pack(*THIRD, url='gs://bucket/data', code=FAILURE)
        self.assertIn('gs://bucket/data/manifest.json: another job wrote this object meanwhile', done.stderr)


class Moment(Faults):
    """Acts once, when a client is about to write an object with such a part in its URL."""

    def __init__(self, server, part, act):
        super().__init__()
        self.server, self.part, self.act = server, part, act
        self.since, self.waits = len(server.requests), threading.Lock()

    def draw(self):
        seen = any(method == 'PUT' and self.part in path for method, path, _ in self.server.requests[self.since:])
        if seen and self.waits.acquire(blocking=False):
            self.act()


class Interrupted(Append):
    def test_faults_change_nothing(self):
        expected = self.local(FIRST, SECOND)
        for seed in range(int(os.environ.get('RECPACK_FAULT_SEEDS', 3))):
            url = f's3://bucket/data-{seed}'
            server = self.serve()
            self.pack(*FIRST, url=url)
            server.faults = Faults(share=0.3, seed=seed + 1, kinds=('cut', '503', '500', 'reset'))
            self.pack(*SECOND, url=url)
            self.assertGreater(sum(server.faults.counts.values()), 0)
            self.assertEqual(self.contents(f'bucket/data-{seed}'), expected, seed)
            self.assertEqual(server.uploads, {})

    def test_killed_and_gone_on_on_any_machine(self):
        expected = self.local(FIRST, SECOND)
        server = self.serve(delay=0.005)
        generator, kills = random.Random(int(os.environ.get('RECPACK_SEED', 5))), 0
        for attempt in range(int(os.environ.get('RECPACK_KILLS', 5))):
            url, longest = f's3://bucket/data-{attempt}', 0.4
            self.pack(*FIRST, url=url)
            self.env['RECPACK_CACHE'] = str(self.folder / 'cache-0')
            while self.is_killed('pack', SOURCE, url, *SECOND, within=generator.uniform(0.02, longest)):
                self.env['RECPACK_CACHE'] = str(self.folder / f'cache-{generator.randrange(2)}')
                kills += 1
                longest *= 1.1
            self.assertEqual(self.contents(f'bucket/data-{attempt}'), expected)
            time.sleep(0.05)
            self.assertEqual(server.uploads, {})
        self.assertGreater(kills, 0)


class OtherJobs(Append):
    def test_one_that_ends_first_is_kept(self):
        """In each moment: before the index is written, and between it and the manifest."""
        for part in 'append1-00001-of-00002.tfrecord', '.recindex', 'manifest.json':
            server = self.serve()
            self.pack(*FIRST, '--overwrite', machine='rival')
            self.pack('--shuffle', '4', '--append', machine='rival')
            rival = (self.folder / 'bucket/data/manifest.json').read_bytes()
            self.pack(*FIRST, '--overwrite', machine='rival')
            plan = self.folder / 'bucket/data/.recpack/plan-append1.json'
            server.faults = Moment(server, part, lambda: self.manifest().write_bytes(rival))
            done = self.pack(*SECOND, machine=part, code=FAILURE)
            self.assertRegex(done.stderr, 's3://bucket/data/manifest.json: another job (changed|wrote) .* meanwhile; '
                                          'give the same command again; what is complete is kept')
            self.assertEqual((self.folder / 'bucket/data/manifest.json').read_bytes(), rival)
            self.assertTrue(plan.exists())

    def test_two_at_once_lose_nothing(self):
        self.serve(delay=0.003)
        self.pack(*FIRST)
        env = {**os.environ, **self.env}
        other = CIFAR / 'cifar-10-batches-bin'
        jobs = (SOURCE, '--shuffle', '5'), (other, '--shard-size', '25KB')
        waiting = dict(enumerate(jobs))
        while waiting:
            running = {i: subprocess.Popen([RECPACK, 'pack', *job, '--append', URL], stdout=subprocess.DEVNULL, text=True,
                                           stderr=subprocess.PIPE, env=env | {'RECPACK_CACHE': str(self.folder / f'at-{i}')})
                       for i, job in waiting.items()}
            said = {i: each.communicate()[1] for i, each in running.items()}
            for i, each in running.items():
                if each.returncode == 0:
                    del waiting[i]
                else:
                    self.assertRegex(said[i], 'meanwhile; give the same command again|another append was started here')
            self.assertLess(len(waiting), len(running))  # one of them always ends
        first = self.local(FIRST)
        records = self.json('ls', self.folder / 'local')['splits']['train']['records']
        there = self.contents('bucket/data')
        self.assertEqual([name for name in first if name.endswith('.tfrecord') and first[name] != there[name]], [])
        there = self.json('ls', URL, env=self.env)['splits']
        self.assertEqual(there['train']['records'], records * 3)
        self.assertIn('all is well', self.run_recpack('verify', URL, env=self.env).stdout)

    def test_one_does_not_disturb_another_that_uploads(self):
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 2500)
        server = self.serve()
        words = 'pack', self.folder / 'made', URL, '--shard-size', '20MB'
        self.run_recpack(*words, env=self.env)
        said = []

        def start():
            env = {**self.env, 'RECPACK_CACHE': str(self.folder / 'cache-another')}
            said.append(self.run_recpack(*words, '--append', '--shuffle', 7, env=env, code=FAILURE).stderr)

        server.faults = Moment(server, 'tfrecord?partNumber', start)
        self.run_recpack(*words, '--append', env=self.env)
        self.assertIn('another append was started here and is not finished', said[0])
        self.run_recpack('pack', self.folder / 'made', self.folder / 'local', *words[3:])
        self.run_recpack('pack', self.folder / 'made', self.folder / 'local', *words[3:], '--append')
        self.assertEqual({name: len(data) for name, data in self.contents('bucket/data').items()},
                         {name: len(data) for name, data in self.contents('local').items()})
        self.assertIn('all is well', self.run_recpack('verify', URL, env=self.env).stdout)
        self.assertEqual(server.uploads, {})

    def test_names_that_became_anothers_are_not_written(self):
        """Somebody discards the plan of a running append, and another one begins."""
        server = self.serve()
        self.pack(*FIRST)
        plan = self.folder / 'bucket/data/.recpack/plan-append1.json'

        server.faults = Moment(server, 'train-append1-00002-of-00007.tfrecord',
                               lambda: plan.write_bytes(plan.read_bytes() + b' '))
        done = self.pack(*SECOND, '--threads', '1', code=FAILURE)
        self.assertIn('s3://bucket/data/.recpack/plan-append1.json: another job changed the data set meanwhile', done.stderr)
        self.assertFalse((self.folder / 'bucket/data/train-append1-00005-of-00007.tfrecord').exists())

    def test_one_that_is_not_finished_is_named(self):
        self.serve()
        self.pack(*FIRST)
        self.pack(*SECOND, machine='lost')
        (self.folder / 'bucket/data/manifest.json').write_bytes(self.local(FIRST)['manifest.json'])
        done = self.pack(*THIRD, code=FAILURE)
        self.assertRegex(done.stderr, 's3://bucket/data: another append was started here and is not finished: .*'
                                      r'remove s3://bucket/data/.recpack/plan-append1.json and the shards \*-append1-\*')
        (self.folder / 'bucket/data/.recpack/plan-append1.json').unlink()
        done = self.pack(*SECOND, machine='another', code=FAILURE)
        self.assertRegex(done.stderr, 's3://bucket/data/.*-append1-.*already exists and was not written by recpack')
        for path in (self.folder / 'bucket/data').glob('*-append1-*'):
            path.unlink()
        self.pack(*THIRD)
        self.assertEqual(self.contents('bucket/data'), self.local(THIRD))  # beside FIRST


class Refused(Append):
    def test_nothing_to_append_to(self):
        server = self.serve()
        done = self.pack(*SECOND, code=FAILURE)
        self.assertIn('s3://bucket/data: there is no data set to append to; pack without --append first', done.stderr)
        self.assertEqual([method for method, _, _ in server.requests if method == 'PUT'], [])

    def test_other_classes(self):
        self.serve()
        (self.folder / 'photos/cat').mkdir(parents=True)
        shutil.copy(next(GOLDEN.rglob('*.jpg')), self.folder / 'photos/cat/a.jpg')
        self.run_recpack('pack', self.folder / 'photos', URL, env=self.env)
        done = self.pack(*SECOND, code=FAILURE)
        self.assertIn('have different classes', done.stderr)
        self.assertEqual(self.contents('bucket/data/.recpack') if (self.folder / 'bucket/data/.recpack').exists() else {}, {})

    def test_append_and_overwrite(self):
        self.serve()
        self.pack(*FIRST)
        before = self.contents('bucket/data')
        self.assertIn('--append excludes --overwrite', self.pack(*SECOND, '--overwrite', code=FAILURE).stderr)
        self.assertEqual(self.contents('bucket/data'), before)


if __name__ == '__main__':
    unittest.main()
