"""recpack_io.maxtext: MaxText's trainer on data sets of recpack, and its checkpoints for other numbers of hosts."""
import os
import pathlib
import subprocess
import sys

os.environ.update(XLA_FLAGS='--xla_force_host_platform_device_count=2', JAX_PLATFORMS='cpu')

import jax
import maxtext
import numpy as np
import recpack_io
import recpack_io.maxtext
from maxtext.configs import pyconfig
from maxtext.input_pipeline.input_pipeline_interface import create_data_iterator
from maxtext.utils import maxtext_utils
from support import ROOT, InFolder, free_port, main

LENGTH, RECORDS, EVALUATED = 8, 40, 10
BATCH = 12  # of all hosts: shared by one, two and three
STEPS = 4  # of an epoch

# A process of a training, which writes down the first tokens of the sequences that it trains on, a line for each step.
TRAIN = '''
import runpy, sys
import jax, numpy as np
coordinator, processes, process, given, program, *arguments = sys.argv[1:]
if processes != '1':
    jax.distributed.initialize(coordinator, int(processes), int(process))
from maxtext.common.data_loader import DataLoader
load = DataLoader.load_next_batch
def load_and_tell(self, *rest, **others):
    batch = load(self, *rest, **others)
    def firsts(name):
        shards = sorted(batch[name].addressable_shards, key=lambda shard: shard.index[0].start or 0)
        return np.concatenate([np.asarray(shard.data)[:, 0] for shard in shards])
    tokens, segments = firsts('inputs'), firsts('targets_segmentation')
    with open(given, 'a') as file:
        print(*tokens[segments == 1], file=file)
    return batch
DataLoader.load_next_batch = load_and_tell
sys.argv = [program, *arguments]
runpy.run_path(program, run_name='__main__')
'''


def arguments_of(folder, **others):
    """MaxText's command line: a tiny model, and a data set."""
    options = dict(
        run_name='tiny', base_output_directory=folder / 'out', hardware='cpu', attention='dot_product',
        log_config=False, enable_checkpointing=False, enable_goodput_recording=False, enable_tensorboard=False,
        skip_jax_distributed_system=True, ici_data_parallelism=-1, ici_fsdp_parallelism=1,
        base_emb_dim=16, base_num_query_heads=2, base_num_kv_heads=2, base_mlp_dim=32, base_num_decoder_layers=1,
        head_dim=8, vocab_size=1024, max_target_length=LENGTH, per_device_batch_size=BATCH // 2,
        dataset_type='grain', grain_train_files=folder / 'texts', grain_eval_files=folder / 'texts',
        train_data_columns="['tokens']", eval_data_columns="['tokens']", tokenize_train_data=False,
        tokenize_eval_data=False, grain_num_threads=2, num_epoch=2, data_shuffle_seed=3)
    base = pathlib.Path(maxtext.__file__).parent / 'configs/base.yml'
    return [str(base), *(f'{name}={value}' for name, value in (options | others).items())]


def iterators(folder, **others):
    """As MaxText's trainer makes them."""
    config = pyconfig.initialize(['train', *arguments_of(folder, **others)])
    return create_data_iterator(config, maxtext_utils.get_mesh_from_config(config))


class MaxText(InFolder):
    def setUp(self):
        super().setUp()
        recpack_io.maxtext.use()
        recpack_io.pack({'train': self.rows(RECORDS), 'validation': self.rows(EVALUATED)}, self.folder / 'texts')

    def rows(self, count):
        return ({'tokens': np.arange(20 * i, 20 * i + LENGTH + 1)} for i in range(count))

    def loader(self, **options):
        tokens = recpack_io.Numbers('tokens', type='i32', length=LENGTH + 1)
        return recpack_io.Loader(self.folder / 'texts', fields=[tokens], seed=3, last_batch='pad',
                                 **{'batch_size': BATCH, 'split': 'train'} | options)

    def same(self, iterator, loader, epochs=1):
        """Global batches of an iterator that ends, and those of a loader."""
        for epoch in range(epochs):
            for plain in loader:
                batch = next(iterator)
                self.assertEqual(sorted(batch), sorted(
                    name + of for name in ('inputs', 'targets') for of in ('', '_position', '_segmentation')))
                tokens, segments = plain['tokens'], np.repeat(plain.mask[:, None], LENGTH, 1)
                for name, part in ('inputs', tokens[:, :-1]), ('targets', tokens[:, 1:]):
                    self.assertEqual((batch[name].dtype, len(batch[name].sharding.device_set)), (np.int32, 2))
                    np.testing.assert_array_equal(batch[name], part)
                    np.testing.assert_array_equal(batch[f'{name}_position'], np.tile(np.arange(LENGTH), (BATCH, 1)))
                    np.testing.assert_array_equal(batch[f'{name}_segmentation'], segments)
        self.assertIsNone(next(iterator, None))

    def test_batches_are_those_of_a_loader(self):
        train, none = iterators(self.folder)
        self.assertIsNone(none)
        self.same(train, self.loader(), epochs=2)
        train, _ = iterators(self.folder, enable_data_shuffling=False, num_epoch=1)
        self.same(train, self.loader(order='sequential'))

    def test_each_evaluation_is_of_all_records(self):
        _, evaluation = iterators(self.folder, eval_interval=1)
        for taken in 1, 0, 0:
            evaluation.reset()  # as the trainer does
            for _ in range(taken):
                next(evaluation)
            evaluation.reset()
            self.same(iter(evaluation), self.loader(split='validation', order='sequential'))

    def test_a_state_continues(self):
        expected = [np.asarray(batch['inputs']) for batch in iterators(self.folder)[0]]
        self.assertEqual(len(expected), 2 * STEPS)
        first, _ = iterators(self.folder)
        for taken in range(len(expected) + 1):
            other, _ = iterators(self.folder)
            other.local_iterator.set_state(first.local_iterator.get_state())
            rest = []
            while (batch := next(other, None)) is not None:
                rest.append(np.asarray(batch['inputs']))
            np.testing.assert_array_equal(rest, expected[taken:])
            next(first, None)

    def train(self, hosts, steps, name):
        """Trains on that many hosts to a step; returns the first tokens of each step's sequences, host by host."""
        coordinator, given = f'localhost:{free_port()}', [self.folder / f'{name}-{host}' for host in range(hosts)]
        devices = 2 if hosts == 1 else 1
        arguments = arguments_of(
            self.folder, steps=steps, per_device_batch_size=BATCH // hosts // devices, enable_checkpointing=True,
            checkpoint_period=3, skip_jax_distributed_system=hosts == 1)
        environment = os.environ | {'XLA_FLAGS': f'--xla_force_host_platform_device_count={devices}'}
        program = ROOT / 'examples/python/elastic_maxtext.py'
        started = [subprocess.Popen(
            [sys.executable, '-B', '-c', TRAIN, coordinator, str(hosts), str(host), given[host], program, *arguments],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for host in range(hosts)]
        for process in started:
            self.addCleanup(process.kill)
        for process in started:
            out, _ = process.communicate(timeout=400)
            self.assertEqual(process.returncode, 0, out[-5000:])
        lines = [file.read_text().splitlines() for file in given]
        return [[int(token) for line in step for token in line.split()] for step in zip(*lines, strict=True)]

    def test_a_training_goes_on_with_other_numbers_of_hosts(self):
        """MaxText's own trainer and checkpoints: each step has the records that it has without an interruption."""
        loader = self.loader()
        expected = [batch['tokens'][batch.mask == 1, 0].tolist() for _ in range(2) for batch in loader]
        steps = [self.train(2, 2, 'two'), self.train(1, 5, 'one'), self.train(3, 2 * STEPS, 'three')]
        self.assertEqual([len(each) for each in steps], [2, 3, 3])
        steps = sum(steps, [])
        self.assertEqual(steps, expected)
        for epoch in steps[:STEPS], steps[STEPS:]:
            self.assertEqual(sorted(sum(epoch, [])), [20 * i for i in range(RECORDS)])

    def test_faults(self):
        recpack_io.pack([{'tokens': np.arange(5)}] * 24, self.folder / 'short')
        train, _ = iterators(self.folder, grain_train_files=self.folder / 'short')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError,
                                    r'record \d+ has 5 tokens, fewer than max_target_length \+ 1 = 9'):
            next(train)
        for kind, said, options in (
                (recpack_io.InvalidArgumentError, 'tokenize_train_data is true', {'tokenize_train_data': True}),
                (recpack_io.InvalidArgumentError, 'tokenize_eval_data is true',
                 {'tokenize_eval_data': True, 'eval_interval': 1}),
                (recpack_io.UnsupportedError, 'use_sft is true', {'use_sft': True}),
                (recpack_io.UnsupportedError, 'expansion_factor_real_data is 0.5', {'expansion_factor_real_data': 0.5}),
                (recpack_io.NotFoundError, 'no-such', {'grain_train_files': self.folder / 'no-such'})):
            with self.subTest(said), self.assertRaisesRegex(kind, said):
                iterators(self.folder, **options)


if __name__ == '__main__':
    main()
