"""The hook in Python programs, in the real libraries: PyTorch, TensorFlow, Keras, Grain.

A library that is not installed is passed over: each environment has tests of its own.
"""
import importlib.util
import sys
import unittest

from support import ROOT, main

sys.path.insert(0, str(ROOT / 'tests/probe/hook'))
spec = importlib.util.spec_from_file_location('hook_support', ROOT / 'tests/probe/hook/support.py')
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)

MS = 1_000_000
# What the program itself measures of its waits: "begin end" a line.
MEASURE = '''
import time
def measured(iterator):
    iterator = iter(iterator)
    while True:
        begin = time.monotonic_ns()
        try:
            batch = next(iterator)
        except StopIteration:
            return
        print('wait', begin, time.monotonic_ns())
        yield batch
'''
TORCH = '''
import torch
from torch.utils.data import DataLoader, Dataset

class Items(Dataset):
    def __init__(self, count, delay=0):
        self.count, self.delay = count, delay
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        time.sleep(self.delay)
        if index < 0: raise OSError(5, 'of mine')
        return torch.randn(4)

model = torch.nn.Linear(4, 1)
def learn(batch, optimizer):
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
'''


def needs(library):
    return unittest.skipUnless(importlib.util.find_spec(library), f'{library} is not installed')


class RealLibrary(hook.HookTest):
    libraries = None
    name = None  # of its waits

    def expect_measured(self, told, least):
        """Each wait within what the program measured, and no shorter than the delay planted."""
        own = [tuple(map(int, line.split()[1:])) for line in told.out.splitlines()
               if line.startswith('wait')]
        waits = told.waits(self.name)
        inside = [w for w in waits if any(b <= w.begin and w.end <= e for b, e in own)]
        self.assertGreater(len(own), 0)
        self.assertEqual(len(inside), len(own))
        for wait in inside:
            self.assertGreaterEqual(wait.end - wait.begin, least)

    def expect_silence_of_others(self, told):
        """But for what workers are at, and for whom they work."""
        self.assertEqual([e for events in told.files.values() if events is not told.events
                          for e in events if not e.name.startswith(('input: ', 'line\t', 'parent process'))], [])


@needs('torch')
class PyTorch(RealLibrary):
    name = 'DataLoader'

    def run_torch(self, text, **options):
        return self.run_program(text, prelude=MEASURE + TORCH, env={'OMP_NUM_THREADS': '1'},
                                **options)

    def test_waits_are_those_that_the_program_measures(self):
        for workers, least in (0, 20 * MS), (2, 0):
            with self.subTest(workers=workers):
                self.setUp()
                told = self.run_torch(f'''
                    if __name__ == '__main__':
                        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                        items = Items(20, delay=0.005)
                        for epoch in range(2):
                            for batch in measured(DataLoader(items, 4, num_workers={workers})):
                                learn(batch, optimizer)
                    ''')
                self.expect_measured(told, least)
                self.assertEqual(len(told.waits('DataLoader')), 2 * 6)
                self.assertEqual(len(told.waits('iter(DataLoader)')), 2)
                self.expect_steps(told, 10)
                self.expect_silence_of_others(told)
                self.assertEqual(told.notices, '')

    def test_spawned_and_lasting_workers(self):
        told = self.run_torch('''
            if __name__ == '__main__':
                optimizer = torch.optim.Adam(model.parameters())
                loader = DataLoader(Items(12), 4, num_workers=1, persistent_workers=True,
                                    multiprocessing_context='spawn')
                for epoch in range(2):
                    for batch in loader: learn(batch, optimizer)
            ''')
        self.expect_steps(told, 6)
        self.expect_silence_of_others(told)
        self.assertGreater(len(told.files), 1)  # the worker is hooked, and silent

    def test_processes_that_train_together_tell_their_ranks(self):
        told = self.run_torch('''
            def work(rank, store):
                torch.distributed.init_process_group('gloo', init_method='file://' + store,
                                                     rank=rank, world_size=2)
                parallel = torch.nn.parallel.DistributedDataParallel(model)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for batch in DataLoader(Items(12), 4):
                    optimizer.zero_grad()
                    parallel(batch).sum().backward()
                    optimizer.step()
                del parallel  # it uses the group, which ends where neither waits for the other
                torch.distributed.barrier()
                torch.distributed.destroy_process_group()

            if __name__ == '__main__':
                import torch.multiprocessing
                torch.multiprocessing.spawn(work, (__file__ + '.store',), 2)
            ''')
        trainers = [events for events in told.files.values()
                    if any(e.kind == hook.STEP for e in events)]
        ranks = [[e.value for e in events if e.name == 'rank'] for events in trainers]
        self.assertEqual(sorted(ranks), [[2 << 32], [2 << 32 | 1]])

    def test_an_evaluation_is_told_apart(self):
        told = self.run_torch('''
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            items = Items(12)
            for epoch in range(2):
                for batch in DataLoader(items, 4): learn(batch, optimizer)
                with torch.inference_mode():
                    for batch in DataLoader(Items(8), 4): model(batch)
            ''')
        self.assertEqual(told.names().count('evaluation'), 2 * 4)
        self.expect_steps(told, 6)

    def test_a_thread_in_the_background_does_not_wait_for_the_trainer(self):
        told = self.run_torch('''
            import queue, threading
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            batches = queue.Queue(2)
            def fetch():
                for batch in DataLoader(Items(40, delay=0.001), 4): batches.put(batch)
                batches.put(None)
            threading.Thread(target=fetch).start()
            for batch in iter(batches.get, None): learn(batch, optimizer)
            ''')
        self.assertIn(told.names(), [['queue'] * count for count in (10, 11)])
        self.assertGreater(len(told.closed(hook.RANGE, 'input in a background thread')), 0)
        self.assertIn(len(told.steps()), (9, 10))

    def test_closures_and_wrappers_count_once(self):
        told = self.run_torch('''
            inner = torch.optim.LBFGS(model.parameters())
            class Wrapper(torch.optim.Optimizer):
                def __init__(self): super().__init__(model.parameters(), {})
                def step(self, closure=None): return inner.step(closure)
            optimizer = Wrapper()
            for batch in DataLoader(Items(12), 4):
                def closure():
                    optimizer.zero_grad()
                    loss = model(batch).square().sum()
                    loss.backward()
                    return loss
                optimizer.step(closure)
            ''')
        self.expect_steps(told, 3)

    def test_compiled_steps_are_seen_and_compiled_as_ever(self):
        text = '''
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            batch = torch.randn(2, 4)
            model(batch).sum().backward()
            step = torch.compile(lambda: optimizer.step(), backend='eager')
            import torch._dynamo
            print(torch._dynamo.explain(lambda: optimizer.step())().graph_break_count)
            for batch in DataLoader(Items(20), 4):
                model(batch).sum().backward()
                step()
            print(torch._dynamo.utils.counters['stats']['unique_graphs'])
            '''
        told = self.run_torch(text)
        self.expect_steps(told, 5)
        plain = self.start(text, prelude=MEASURE + TORCH, env={'RECPACK_PYTHON_HOOK': '0'})
        out, err = plain.communicate()
        self.assertEqual(told.out, out, err)

    def test_exceptions_pass(self):
        for workers in 0, 1:
            with self.subTest(workers=workers):
                told = self.run_torch(f'''
                    if __name__ == '__main__':
                        try:
                            for batch in DataLoader(Items(4), sampler=[1, -1],
                                                    num_workers={workers}): pass
                        except OSError as error:
                            print('of mine' in str(error))
                    ''')
                self.assertEqual(told.out, 'True\n')

    @needs('torchdata')
    def test_a_stateful_loader(self):
        told = self.run_torch('''
            from torchdata.stateful_dataloader import StatefulDataLoader
            if __name__ == '__main__':
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for workers in 0, 1:
                    for batch in StatefulDataLoader(Items(12), 4, num_workers=workers):
                        learn(batch, optimizer)
            ''')
        self.assertEqual(len(told.waits('DataLoader')), 8)
        self.expect_steps(told, 6)


TENSORFLOW = '''
import os
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf

def items(count, delay=0.0):
    def wait(x):
        time.sleep(delay)
        return x
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return tf.data.Dataset.range(count).map(
        lambda x: tf.ensure_shape(tf.py_function(wait, [x], tf.int64), [])).with_options(options)
'''


@needs('tensorflow')
class TensorFlow(RealLibrary):
    name = 'tf.data'

    def run_tensorflow(self, text):
        return self.run_program(text, prelude=MEASURE + TENSORFLOW)

    def test_an_eager_loop(self):
        told = self.run_tensorflow('''
            step = tf.function(lambda x: x + 1)
            train, others = items(5, delay=0.02), items(4)
            for epoch in range(2):
                for batch in measured(train): step(batch)
                for batch in others: step(batch)
            ''')
        self.expect_measured(told, 20 * MS)
        self.expect_steps(told, 10, 'batch')
        self.assertGreaterEqual(told.names().count('evaluation'), 4 + 5)

    def test_iterators_of_arrays_and_calls(self):
        told = self.run_tensorflow('''
            for batch in items(5).as_numpy_iterator(): pass
            iterator = iter(items(5))
            for _ in range(5): iterator.get_next()
            ''')
        self.assertEqual(len(told.waits()), 6 + 5)

    def test_within_a_function_it_cannot_be_seen_and_that_is_said(self):
        told = self.run_tensorflow('''
            @tf.function
            def step(iterator): return iterator.get_next()
            iterator = iter(items(5))
            print([int(step(iterator)) for _ in range(5)])
            ''')
        self.assertEqual(told.out, '[0, 1, 2, 3, 4]\n')
        self.assertEqual(told.waits(), [])
        self.assertIn('inside a tf.function', told.notices)

    def test_fit_of_keras(self):
        told = self.run_tensorflow('''
            import keras, numpy
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile('sgd', 'mse')
            x, y = numpy.zeros((32, 4), 'f'), numpy.zeros((32, 1), 'f')
            history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, validation_data=(x, y))
            print(len(history.history['loss']))
            model.evaluate(x, y, verbose=0)
            ''')
        self.assertEqual(told.out, '2\n')
        self.expect_steps(told, 8, 'Keras')
        self.assertIn('inside a tf.function', told.notices)
        self.assertNotIn('tf.data', told.names())


GRAIN = '''
import grain
class Source:
    def __init__(self, count, delay=0): self.count, self.delay = count, delay
    def __len__(self): return self.count
    def __getitem__(self, index):
        time.sleep(self.delay)
        return index

def items(count, delay=0.0):
    threads = grain.ReadOptions(num_threads=0)
    return grain.MapDataset.source(Source(count, delay)).to_iter_dataset(threads).batch(2)
'''


@needs('grain')
class Grain(RealLibrary):
    name = 'Grain'

    def run_grain(self, text):
        return self.run_program(text, prelude=MEASURE + GRAIN)

    def test_iterators_within_each_other_count_once(self):
        told = self.run_grain('''
            train, others = items(10, delay=0.005), items(8)
            for epoch in range(2):
                for batch in measured(train): pass
                for batch in others: pass
            ''')
        self.expect_measured(told, 10 * MS)
        self.expect_steps(told, 10, 'batch')
        self.assertEqual(len(told.waits()), 2 * (6 + 5))

    def test_its_loader_and_silent_workers(self):
        told = self.run_grain('''
            import grain.python as gp
            def loader(workers):
                return gp.DataLoader(data_source=Source(8), worker_count=workers,
                                     sampler=gp.SequentialSampler(8, gp.NoSharding()),
                                     operations=[gp.Batch(2)])
            if __name__ == '__main__':
                for batch in loader(0): pass
                for batch in loader(2): pass
            ''')
        self.assertEqual(len(told.waits()), 5 + 5)
        self.expect_silence_of_others(told)


if __name__ == '__main__':
    main()
