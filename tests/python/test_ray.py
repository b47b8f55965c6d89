"""recpack_io.ray: packing on a cluster of two nodes, one of which is killed; Ray Data in both directions."""
import contextlib
import io
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from unittest import mock

import numpy as np
import ray
import recpack_io
import recpack_io.ray
from ray.cluster_utils import Cluster
import recpack_io.ray.__main__ as program
from fed_loaders import FedLoaders, halved, seen
from ray_cluster import contents, kill_one
from support import CIFAR, InFolder, main, recpack

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'cli'))
from object_server import ObjectServer  # noqa: E402


def end_process(sample):
    """A function that takes its process with it."""
    os.kill(os.getpid(), signal.SIGKILL)


class Logged:
    """A function that notes each of its calls in a file."""

    def __init__(self, path):
        self.path = path

    def __call__(self, sample):
        with open(self.path, 'a') as file:
            file.write('.')
        return {'one': 1}


class Ray(InFolder):
    """A cluster of a head without CPUs, and of two nodes with one each."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = Cluster(initialize_head=True, head_node_args={'num_cpus': 0, 'include_dashboard': False})
        cls.nodes = [cls.cluster.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=cls.cluster.address, log_to_driver=False)

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
        cls.cluster.shutdown()
        super().tearDownClass()

    def files(self, count):
        rng = np.random.default_rng(1)
        for i in range(count):
            path = self.folder / 'files' / 'ab'[i % 2] / f'{i:05}.bin'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(rng.bytes(int(rng.integers(1, 5000))))
        return self.folder / 'files'


class Pack(Ray):
    def test_shards_are_those_of_one_machine(self):
        recpack_io.pack(CIFAR, self.folder / 'one', shards=5, sync=False)
        ended = []
        result = recpack_io.ray.pack(CIFAR, self.folder / 'ray', shards=5, sync=False,
                                     progress=lambda done, tasks: ended.append((done, tasks)))
        self.assertEqual(contents(self.folder / 'ray'), contents(self.folder / 'one'))
        self.assertEqual((result.complete, result.records), (True, len(recpack_io.open(self.folder / 'one')) + 32))
        self.assertEqual(ended[-1][0], ended[-1][1])
        self.assertGreaterEqual(ended[-1][1], 2)  # other tests add nodes

    def test_a_node_that_is_killed_loses_nothing(self):
        source = self.files(3000)
        recpack_io.pack(source, self.folder / 'one', shards=40, sync=False)
        node = self.cluster.add_node(num_cpus=4)

        def kill():
            while not list((self.folder / 'ray').glob('*.tfrecord')):
                time.sleep(0.005)
            self.cluster.remove_node(node, allow_graceful=False)
        killer = threading.Thread(target=kill)
        killer.start()
        recpack_io.ray.pack(source, self.folder / 'ray', shards=40, tasks=6, sync=True)
        killer.join()
        self.assertEqual(contents(self.folder / 'ray'), contents(self.folder / 'one'))

    def test_a_worker_that_is_killed_loses_nothing(self):
        source = self.files(3000)
        recpack_io.pack(source, self.folder / 'one', shards=40, sync=False)
        killed = []

        def kill():
            while not list((self.folder / 'ray').glob('*.tfrecord')):
                time.sleep(0.005)
            killed.append(kill_one('_pack_task'))
        killer = threading.Thread(target=kill)
        killer.start()
        recpack_io.ray.pack(source, self.folder / 'ray', shards=40, tasks=2, sync=True)
        killer.join()
        self.assertEqual(len(killed), 1)
        self.assertEqual(contents(self.folder / 'ray'), contents(self.folder / 'one'))

    def test_a_task_that_is_lost_too_often_is_an_error_that_says_so(self):
        with self.assertRaisesRegex(recpack_io.IoError, r'task 0 of 1 was lost .*; make the same call again') as caught:
            killer = threading.Thread(target=lambda: kill_one('_pack_task'))
            killer.start()
            recpack_io.ray.pack(self.files(3000), self.folder / 'ray', shards=400, tasks=1, max_retries=0)
        killer.join()
        self.assertEqual(caught.exception.advice, 'make the same call again, which packs what is missing')

    def test_an_error_of_a_task_has_its_place(self):
        recpack_io.pack(CIFAR, self.folder / 'source', shards=4, sync=False)
        bad = self.folder / 'source' / 'train-00002-of-00004.tfrecord'
        data = bytearray(bad.read_bytes())
        data[len(data) // 2] ^= 1
        bad.write_bytes(data)
        bad.with_name('train.recindex').unlink()
        places = []
        for packs in (recpack_io.pack, recpack_io.ray.pack):
            with self.assertRaises(recpack_io.CorruptError) as caught:
                packs(self.folder / 'source', self.folder / packs.__module__, kind='tfrecord', sync=False)
            error = caught.exception
            places.append((error.path, error.offset, error.ordinal, error.reason))
        self.assertEqual(places[0], places[1])
        self.assertEqual(places[0][0], str(bad))

    def test_an_unfinished_pack_continues_with_its_tasks(self):
        recpack_io.pack(CIFAR, self.folder / 'one', shards=6, sync=False)
        recpack_io.pack(CIFAR, self.folder / 'ray', shards=6, sync=False, task=(1, 3))
        result = recpack_io.ray.pack(CIFAR, self.folder / 'ray', shards=6, sync=False)
        self.assertTrue(result.complete)
        self.assertEqual(contents(self.folder / 'ray'), contents(self.folder / 'one'))

    def test_an_unfinished_pack_in_a_store_continues_on_a_larger_cluster(self):
        """From clusters that are started in an environment that names the store."""
        (self.folder / 'bucket').mkdir()
        server = ObjectServer(self.folder)
        self.addCleanup(server.close)
        environment = {**os.environ, 'RECPACK_CACHE': str(self.folder / 'cache'), **server.environment()}
        environment.pop('RAY_ADDRESS', None)
        code = f"""
import sys, ray, recpack_io, recpack_io.ray
source, out = {str(CIFAR)!r}, 's3://bucket/out'
recpack_io.pack(source, out, shards=6, task=(1, 3))
ray.init('local', num_cpus=2, include_dashboard=False, log_to_driver=False)
assert recpack_io.ray.pack(source, out, shards=6).complete
"""
        done = subprocess.run([sys.executable, '-c', code], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        recpack_io.pack(CIFAR, self.folder / 'one', shards=6, sync=False)
        self.assertEqual(contents(self.folder / 'bucket/out'), contents(self.folder / 'one'))

    def test_errors_are_those_of_pack(self):
        with self.assertRaisesRegex(recpack_io.NotFoundError, 'absent'):
            recpack_io.ray.pack(self.folder / 'absent', self.folder / 'out')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'overwrite is not'):
            recpack_io.ray.pack(CIFAR, self.folder / 'out', overwrite=True)
        with self.assertRaisesRegex(TypeError, 'shard'):
            recpack_io.ray.pack(CIFAR, self.folder / 'out', shardz=3)


class Loading(FedLoaders, Ray):
    def on_ray(self, dataset, *given, actors=2, **options):
        loader = recpack_io.ray.Loader(dataset, *given, actors=actors, cpus_per_actor=0.25, **options)
        self.addCleanup(loader.close)
        return loader

    def both(self, *given, dataset=None, **options):
        """The local loader, and one on Ray."""
        dataset = self.dataset if dataset is None else dataset
        return recpack_io.Loader(dataset, *given, **options), self.on_ray(dataset, *given, **options)

    def test_batches_are_those_of_the_local_loader(self):
        self.assert_same_batches()

    def test_ends_after_its_epochs(self):
        local, ours = self.both('cifar10-train', batch_size=9, epochs=2)
        for _ in range(2):
            self.assert_same_epoch(local, ours)
        for loader in (local, ours):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'all 2 epochs of the loader are over'):
                next(iter(loader))

    def test_more_actors_than_steps(self):
        local, ours = self.both('cifar10-train', batch_size=40, last_batch='keep', order='global')
        ours.close()
        ours = self.on_ray(self.dataset, 'cifar10-train', actors=3, batch_size=40, last_batch='keep', order='global')
        for _ in range(2):
            self.assert_same_epoch(local, ours)
        self.assertTrue(ours.audit().check(self.dataset).complete)

    def test_ranks_share_batches(self):
        options = {'batch_size': 6, 'share': 'batches', 'last_batch': 'keep', 'rank': 1, 'world_size': 3}
        self.assert_same_epoch(*self.both('cifar10-train', **options))
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'give share="batches"'):
            self.on_ray(self.dataset, 'cifar10-train', rank=0, world_size=2)

    def test_states_of_one_continue_the_other(self):
        options = {'batch_size': 5, 'seed': 8, 'last_batch': 'keep'}
        local, ours = self.both('cifar10-train', **options)
        for steps in (1, 4):
            for given, taken in ((local, ours), (ours, local)):
                given.set_epoch(2)
                batches = iter(given)
                for _ in range(steps):
                    next(batches)
                taken.load_state_dict(given.state_dict())
                rest = [seen(batch) for batch in batches]
                for expected, batch in zip(rest, taken, strict=True):
                    self.assertEqual(seen(batch)[:5], expected[:5])
                    self.assertEqual(batch.token, expected[6])
                self.assertEqual(taken.audit(), given.audit())
                self.assertTrue(taken.audit().check(self.dataset).complete)

    def test_an_epoch_that_is_left_early_ends(self):
        local, ours = self.both('cifar10-train', batch_size=8)
        for loader in (local, ours):
            next(iter(loader))
        self.assert_same_epoch(local, ours)
        for loader in (local, ours):
            loader.set_epoch(7)
        self.assert_same_epoch(local, ours)

    def test_batches_of_a_killed_actor_are_made_again(self):
        local, ours = self.both('cifar10-train', batch_size=4, last_batch='keep')
        for kills in range(3):
            batches = iter(ours)
            for i, batch in enumerate(local):
                if i == 5 * kills:
                    kill_one('Maker')
                self.assertEqual(seen(next(batches)), seen(batch))
            self.assertIsNone(next(batches, None))
            self.assertEqual(ours.state_dict(), local.state_dict())
            self.assertTrue(ours.audit().check(self.dataset).complete)
        self.assertGreaterEqual(ours.stats()['replaced'], 2)  # a late kill may be seen in the next epoch

    def test_an_actor_that_dies_again_and_again_is_an_error(self):
        fields = [recpack_io.Function(end_process, {'one': 'int64'})]
        with self.assertRaisesRegex(recpack_io.IoError, 'actor 0 of 1 was lost'):
            next(iter(self.on_ray(self.dataset, fields=fields, actors=1, batch_size=4, max_restarts=1)))

    def test_fields_functions_views_and_mixtures(self):
        fields = [recpack_io.Image(height=20, width=24, raw_shape=(3, 32, 32), crop='random-resized', type='f16'),
                  recpack_io.Numbers('label'), recpack_io.Id(),
                  recpack_io.Function(lambda sample: {'noise': sample.rng.random(dtype='f4')}, {'noise': 'float32'})]
        options = {'batch_size': 8, 'batch_functions': [halved], 'fields': fields}
        self.assert_same_epoch(*self.both(**options))
        self.assert_same_epoch(*self.both(dataset=self.dataset, balanced='label', **options))
        mixture = recpack_io.Mixture([(self.dataset, 0.7), (self.dataset.subset(range(9)), 0.3)])
        self.assert_same_epoch(*self.both(dataset=mixture, **options))

    def test_fields_of_recipes_can_be_pickled(self):
        for name in recpack_io.recipe_names():
            for field in recpack_io.recipe(name):
                again = pickle.loads(pickle.dumps(field))
                facts = [each for each in dir(field) if not each.startswith('__')]
                self.assertEqual([getattr(again, each) for each in facts], [getattr(field, each) for each in facts])
        chosen = recpack_io.recipe('imagenet-train-randaugment')[0]
        self.assertEqual(pickle.loads(pickle.dumps(chosen))._policy_interpolation, 'bilinear')

    def test_no_more_is_made_ahead_than_was_asked_for(self):
        log = self.folder / 'made'
        made = recpack_io.Function(Logged(log), {'one': 'int64'})
        ours = self.on_ray(self.dataset, fields=[made], batch_size=2, ahead=2, prefetch=2)
        batches = iter(ours)
        next(batches)
        time.sleep(1)
        # Per actor: the two that lie in the store, those two that its loader makes ahead, and one that began.
        self.assertLessEqual(len(log.read_text()), 2 * (1 + 2 * (2 + 2 + 1)))
        next(batches)

    def test_a_relative_path_is_that_of_the_program(self):
        with contextlib.chdir(self.holder.name):
            ours = self.on_ray(recpack_io.open('shards'), 'cifar10-train', batch_size=32)
        self.assertEqual(len(list(ours)), 2)

    def test_errors(self):
        def fails(sample):
            raise KeyError('mine')
        ours = self.on_ray(self.dataset, fields=[recpack_io.Function(fails, {'one': 'int64'})], batch_size=8)
        with self.assertRaisesRegex(KeyError, 'mine'):
            next(iter(ours))
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'no recipe'):
            self.on_ray(self.dataset, 'unheard-of')
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'bfloat16'):
            self.on_ray(self.dataset, fields=recpack_io.recipe('cifar10-train', type='bf16'))
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'audit_counts'):
            self.on_ray(self.dataset, 'cifar10-train', audit_counts=True)
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'on_bad_record'):
            self.on_ray(self.dataset, 'cifar10-train', on_bad_record='substitute')
        with self.assertRaisesRegex(TypeError, 'batch_siz'):
            self.on_ray(self.dataset, 'cifar10-train', batch_siz=3)
        ours = self.on_ray(self.dataset, 'cifar10-train', batch_size=8)
        ours.close()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'closed'):
            next(iter(ours))
        starved = recpack_io.ray.Loader
        with self.assertRaisesRegex(recpack_io.IoError, 'the cluster may have no CPUs left'):
            starved(self.dataset, 'cifar10-train', actors=1, cpus_per_actor=64, timeout=2)

    def test_a_corrupt_record_has_its_place(self):
        shutil.copytree(f'{self.holder.name}/shards', self.folder / 'shards')
        bad = self.folder / 'shards' / 'train-00000-of-00001.tfrecord'
        data = bytearray(bad.read_bytes())
        data[1000] ^= 1
        bad.write_bytes(data)
        ours = self.on_ray(recpack_io.open(self.folder / 'shards'), 'cifar10-train', batch_size=8)
        with self.assertRaises(recpack_io.CorruptError) as caught:
            list(ours)
        self.assertEqual((caught.exception.path, caught.exception.ordinal), (str(bad), 0))


class Program(Ray):
    def test_packs_as_recpack_does(self):
        flags = ['--shards', '3', '--shuffle', '7', '--no-sync', '--splits', 'train,test']
        recpack('pack', CIFAR, self.folder / 'one', *flags)
        with mock.patch('ray.init'), contextlib.redirect_stdout(io.StringIO()) as out:
            code = program.main(['pack', str(CIFAR), str(self.folder / 'ray'), *flags, '--tasks', '2'])
        self.assertEqual(code, 0)
        self.assertRegex(out.getvalue(), r'packed 96 records, [\d,]+ bytes, in 6 shards into \S+ in [\d.]+ s\n')
        self.assertEqual(contents(self.folder / 'ray'), contents(self.folder / 'one'))

    def test_errors_are_lines(self):
        with mock.patch('ray.init'), contextlib.redirect_stderr(io.StringIO()) as err:
            code = program.main(['pack', str(self.folder / 'absent'), str(self.folder / 'out'), '--on-error', 'skip'])
        self.assertEqual(code, 2)
        self.assertRegex(err.getvalue(), r'^recpack: .*absent')

    def test_it_knows_the_flags_of_recpack_pack(self):
        flags = set(re.findall(r'^\s+(--[a-z-]+)', recpack('pack', '--help'), re.MULTILINE))
        refused = {'--task', '--overwrite', '--append', '--dry-run', '--no-digest', '--json', '--help'}
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
            program.main(['pack', '--help'])
        known = set(re.findall(r'^\s+(--[a-z-]+)', out.getvalue(), re.MULTILINE))
        self.assertGreater(len(flags), 30)
        self.assertEqual(flags - known - refused, set())
        for flag in refused - {'--help'}:
            self.assertNotIn(flag, known)


class Data(Ray):
    def test_reads_what_there_is(self):
        rows = [{'label': i, 'box': [i / 2, 1.0], 'text': f'{i}'.encode(), 'names': [b'a', b'b']} for i in range(1000)]
        recpack_io.pack(rows, self.folder / 'shards', sync=False)
        data = ray.data.read_datasource(recpack_io.ray.Datasource(self.folder / 'shards'), override_num_blocks=4)
        self.assertEqual(data.count(), 1000)
        self.assertEqual(sorted(data.take_all(), key=lambda row: row['label']), rows)
        few = ray.data.read_datasource(recpack_io.ray.Datasource(self.folder / 'shards', columns=['label']))
        self.assertEqual(sorted(row['label'] for row in few.take_all()), list(range(1000)))
        self.assertEqual(few.columns(), ['label'])

    def test_writes_what_it_reads(self):
        recpack_io.pack(({'label': i, 'image': np.full((4, 4), i % 256, 'u1')} for i in range(500)),
                        self.folder / 'shards', sync=False)
        data = ray.data.read_datasource(recpack_io.ray.Datasource(self.folder / 'shards'), override_num_blocks=3)
        doubled = data.map(lambda row: {**row, 'label': 2 * row['label']})
        doubled.write_datasink(recpack_io.ray.Datasink(self.folder / 'out'))
        written = recpack_io.open(self.folder / 'out')
        self.assertEqual(sorted(int(record['label'][0]) for record in written), list(range(0, 1000, 2)))
        for record in written:
            self.assertEqual(record['image'].tobytes(), bytes([int(record['label'][0]) // 2 % 256]) * 16)
        self.assertTrue(list((self.folder / 'out').glob('train.recindex')))
        self.assertEqual([path.name for path in (self.folder / 'out').glob('.parts-*')], [])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "has a split 'train'"):
            doubled.write_datasink(recpack_io.ray.Datasink(self.folder / 'out'))
        data.limit(7).write_datasink(recpack_io.ray.Datasink(self.folder / 'out', split='test'))
        self.assertEqual(recpack_io.open(self.folder / 'out').splits, {'test': 7, 'train': 500})
        self.assertIn('507 records', recpack('verify', self.folder / 'out'))

    def test_writes_to_a_store(self):
        """From a cluster that is started in an environment that names the store."""
        (self.folder / 'bucket').mkdir()
        server = ObjectServer(self.folder)
        self.addCleanup(server.close)
        code = """
import ray, recpack_io, recpack_io.ray
ray.init('local', num_cpus=2, include_dashboard=False, log_to_driver=False)
out = 's3://bucket/out'
data = ray.data.range(100, override_num_blocks=3)
data.write_datasink(recpack_io.ray.Datasink(out))
data.limit(7).write_datasink(recpack_io.ray.Datasink(out, split='test'))
try:
    data.write_datasink(recpack_io.ray.Datasink(out))
except recpack_io.InvalidArgumentError as error:
    assert "has a split 'train'" in str(error), error
else:
    raise SystemExit('it was written')
assert recpack_io.open(out).splits == {'test': 7, 'train': 100}
assert sorted(int(record['id'][0]) for record in recpack_io.open(out)) == list(range(100))
"""
        environment = {**os.environ, 'RECPACK_CACHE': str(self.folder / 'cache'), **server.environment()}
        environment.pop('RAY_ADDRESS', None)
        done = subprocess.run([sys.executable, '-c', code], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path for path in (self.folder / 'bucket/out').glob('.parts-*/**/*') if path.is_file()], [])

    def test_a_failed_write_leaves_nothing(self):
        def fail(row):
            if row['id'] == 90:
                raise ValueError('no')
            return row
        data = ray.data.range(100, override_num_blocks=2).map(fail)
        with contextlib.suppress(Exception):
            data.write_datasink(recpack_io.ray.Datasink(self.folder / 'out'))
        self.assertEqual(list((self.folder / 'out').iterdir()), [])
        shutil.rmtree(self.folder / 'out')


if __name__ == '__main__':
    main()
