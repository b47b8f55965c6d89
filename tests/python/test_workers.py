"""Functions of the user in worker processes."""
import os
import random
import signal
import sys
import time
from unittest import mock

import numpy as np
import recpack_io
import test_functions
from calls import Calls, drawing, odd
from ctrl_c import ENDLESS, LOADER_OF_CALLS, SLOW_CALLS, ctrl_c
from recpack_io import BatchFunction, Function, Image
from support import main

RAW = {'raw_shape': [3, 32, 32]}
METHODS = 'fork', 'spawn', 'forkserver'


def everything(sample):
    return {'class': sample['label'], 'pixels': sample['image'].reshape(3, 32, 32),
            'shape': sample.image.shape, 'seed': sample.seed,
            'drawn': sample.rng.random(3),
            'place': np.array([sample.epoch, sample.position, sample.id])}


EVERYTHING = {'class': ('int64', 1), 'pixels': ('uint8', (3, 32, 32)), 'shape': ('int64', 3),
              'place': ('int64', 3), 'seed': 'int64', 'drawn': ('float32', 3)}


def own_generators(sample):
    return {'drawn': np.array([random.random(), np.random.rand()], np.float32)}


def mixed(batch):
    share = batch.rng.random()
    batch['image'][:] = share * batch['image'] + (1 - share) * batch['image'][::-1]
    return {'share': np.full(len(batch.ids), share),
            'number': np.full((len(batch.ids), 2, 3), batch.seed % 1000, np.int32)}


MIXED = {'share': 'float32', 'number': ('int32', (2, 3))}


def darker(batch):
    batch['image'] -= batch['share'][:, None, None, None]


def slabs(batch):
    """How many the process has mapped."""
    with open('/proc/self/maps') as maps:
        count = sum('recpack_io slab' in line for line in maps)
    return {'slabs': np.full(len(batch.ids), count)}


def pid(sample):
    return {'pid': os.getpid()}


def invert(picture):
    return 255 - picture


class Strange(Exception):
    def __init__(self, first, second):
        super().__init__(f'{first} and {second}')


def strange(sample):
    raise Strange(1, 2)


def leave(sample):
    sys.exit('enough')


def leave_at_once(sample):
    os._exit(3)


def be_killed(sample):
    os.kill(os.getpid(), signal.SIGKILL)


def corrupt(sample):
    if sample.id == 5:
        raise recpack_io.CorruptError('an odd box')
    return {'x': 1}


def wrong(sample):
    return {'x': np.zeros(3)}


def stuck(sample):
    time.sleep(1000)


def is_there(process):
    try:
        with open(f'/proc/{process}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):  # gone, or gone since it was opened
        return False


class Workers(Calls):
    def batches(self, *functions, **options):
        return [{name: batch[name].tobytes() for name in batch}
                for batch in self.loader(*functions, **options)]

    def test_know_the_crop_of_their_picture(self):
        self.check_crops(workers=2)

    def test_the_same_bits_as_on_threads(self):
        functions = [
            Function(everything, EVERYTHING,
                     image=Image(**RAW, height=20, width=24, crop='pad', pad=2, flip=0.5)),
            drawing(),
            Image('then', then=invert, **RAW, height=32, width=32, type='u8', layout='nhwc')]
        changes = [BatchFunction(mixed, MIXED), darker]
        expected = self.batches(*functions, batch_functions=changes)
        for workers, method in (1, 'fork'), (3, 'fork'), (2, 'spawn'), (2, 'forkserver'):
            with self.subTest(method=method, workers=workers):
                self.assertEqual(self.batches(*functions, workers=workers, batch_functions=changes,
                                              multiprocessing_context=method), expected)

    def test_epochs_and_states(self):
        loader = self.loader(drawing(), workers=2)
        plain = self.loader(drawing())
        for _ in range(2):
            self.assertEqual([batch['draw'].tolist() for batch in loader],
                             [batch['draw'].tolist() for batch in plain])
        loader.set_epoch(0)
        plain.set_epoch(0)
        next(iter(loader))
        plain.load_state_dict(loader.state_dict())
        rest = [batch['draw'].tolist() for batch in plain]
        loader.load_state_dict(loader.state_dict())
        self.assertEqual([batch['draw'].tolist() for batch in loader], rest)

    def test_generators_of_the_process_are_keyed(self):
        function = Function(own_generators, {'drawn': ('float32', 2)})
        expected = self.batches(function, workers=1)
        self.assertEqual(self.batches(function, workers=3), expected)
        self.assertNotEqual(self.batches(function, workers=1, seed=4), expected)

    def test_call_batch_functions_too(self):
        function = BatchFunction(lambda batch: {'there': np.full(len(batch.ids), os.getpid())},
                                 {'there': 'int64'})
        batch = next(iter(self.loader(Function(pid, {'pid': 'int64'}), workers=2, multiprocessing_context='fork',
                                      batch_functions=[function])))
        self.assertNotIn(os.getpid(), {*batch['pid'], *batch['there']})

    def test_on_slabs_that_replace_held_ones(self):
        options = {'batch_functions': [BatchFunction(mixed, MIXED)], 'prefetch': 2,
                   'max_live_batches': 64}
        held = list(self.loader(workers=2, **options))
        for batch, other in zip(held, self.loader(**options), strict=True):
            for name in batch:
                np.testing.assert_array_equal(batch[name], other[name])

    def test_slabs_stay_mapped_as_long_as_they_are_there(self):
        loader = self.loader(batch_functions=[BatchFunction(slabs, {'slabs': 'int64'})], workers=1,
                             multiprocessing_context='spawn', batch_size=1, prefetch=3)
        for _ in range(3):
            for batch in loader:
                count = int(batch['slabs'][0])
            self.assertEqual(count, loader.stats()['slabs'])
            next(iter(loader))
            loader.set_epoch(0)  # with slabs of its own

    def test_more_than_threads(self):
        loader = self.loader(Function(pid, {'pid': 'int64'}), workers=3, threads=1)
        self.assertEqual(sum(map(len, loader)), 8 * len(loader))


class Batches(test_functions.Batches):
    """What holds on threads."""

    def loader(self, *functions, **options):
        return super().loader(*functions, workers=2, multiprocessing_context='fork', **options)


class Failures(Calls):
    def raised(self, call, kind, text, method='fork', **options):
        loader = self.loader(Function(call, {'x': 'uint8'}), workers=2,
                             multiprocessing_context=method, **options)
        for _ in range(2):
            with self.assertRaisesRegex(kind, text) as caught:
                for _ in loader:
                    pass
        return caught.exception

    def test_keep_their_traceback(self):
        for method in METHODS:
            error = self.raised(odd, ValueError, r'^record \d+ is odd$', method)
            self.assertRegex(str(error.__cause__), r'(?s)a worker process.*in odd\n.*raise Value')
            if sys.version_info >= (3, 11):
                self.assertRegex(error.__notes__[0], r'train-.*record \d+\): function odd raised')

    def test_that_cannot_be_pickled(self):
        error = self.raised(strange, RuntimeError, 'Strange: 1 and 2')
        self.assertIn('in strange', str(error.__cause__))

    def test_results_that_are_not_as_declared(self):
        self.raised(wrong, ValueError, r"'x' of shape \(3,\), declared is \(\)")

    def test_exit_is_an_error(self):
        self.raised(leave, RuntimeError, "SystemExit\\('enough'\\)")

    def test_a_process_that_ends(self):
        self.raised(leave_at_once, recpack_io.IoError,
                    r'record \d+.*worker process \d+ .* exited with status 3')
        self.raised(be_killed, recpack_io.IoError, 'was killed by signal 9')
        self.raised(be_killed, recpack_io.IoError, 'worker process', 'spawn')
        self.raised(be_killed, recpack_io.IoError, 'worker process', 'forkserver')
        loader = self.loader(workers=2, batch_functions=[be_killed], multiprocessing_context='fork')
        with self.assertRaisesRegex(recpack_io.IoError, 'signal 9.*, in the batch from position'):
            next(iter(loader))

    def test_a_process_that_is_killed_between_calls(self):
        loader = self.loader(Function(pid, {'pid': 'int64'}), workers=2, prefetch=2, multiprocessing_context='fork')
        first = next(iter(loader))['pid'].tolist()
        os.kill(first[0], signal.SIGKILL)
        with self.assertRaisesRegex(recpack_io.IoError, f'{first[0]}.* was killed by signal 9'):
            for _ in range(20):
                for _ in loader:
                    pass

    def test_what_it_calls_corrupt_is_substituted(self):
        loader = self.loader(Function(corrupt, {'x': 'uint8'}), workers=2, last_batch='pad',
                             on_bad_record='substitute', max_bad_share=0.5)
        self.assertNotIn(5, [number for batch in loader for number in batch.ids])

    def test_a_sample_that_does_not_fit(self):
        with mock.patch('recpack_io.workers._SHARED_BYTES', 4096):
            for arrays in {'x': ('uint8', 3000)}, {'x': ('uint8', 5000)}:
                loader = self.loader(Function(odd, arrays), workers=1)
                with self.assertRaisesRegex(recpack_io.UnsupportedError, 'not fit the 4096'):
                    next(iter(loader))

    def test_what_cannot_be_pickled(self):
        for method in 'spawn', 'forkserver':
            with self.assertRaisesRegex(
                    TypeError, f"lambda.*cannot be pickled.*by '{method}': .*top of a module"):
                self.loader(Function(lambda sample: {'x': 1}, {'x': 'uint8'}), workers=2,
                            multiprocessing_context=method)
        loader = self.loader(Function(lambda sample: {'x': 1}, {'x': 'uint8'}), workers=2,
                             multiprocessing_context='fork')
        self.assertEqual(next(iter(loader))['x'].tolist(), [1] * 8)

    def test_a_method_that_there_is_none_of(self):
        with self.assertRaisesRegex(ValueError, 'threads'):
            self.loader(drawing(), workers=1, multiprocessing_context='threads')
        with self.assertRaisesRegex(ValueError, 'no -1 workers'):
            self.loader(drawing(), workers=-1)


class Lifetime(Calls):
    def ended(self, processes):
        deadline = time.monotonic() + 30
        while any(map(is_there, processes)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return not any(map(is_there, processes))

    def test_processes_end_with_their_loader(self):
        for method in METHODS:
            loader = self.loader(Function(pid, {'pid': 'int64'}), workers=2,
                                 multiprocessing_context=method)
            processes = set(next(iter(loader))['pid'].tolist())
            self.assertTrue(all(map(is_there, processes)))
            del loader
            self.assertTrue(self.ended(processes), method)

    def test_no_descriptors_are_left(self):
        for _ in range(3):
            loader = self.loader(drawing(), workers=2,
                                 batch_functions=[BatchFunction(mixed, MIXED)])
            next(iter(loader))
            loader.close()
            del loader
            count = len(os.listdir('/proc/self/fd'))
            self.assertEqual(count, self.__dict__.setdefault('count', count))

    def test_a_function_that_does_not_come_back(self):
        loader = self.loader(Function(stuck, {'x': 'uint8'}), workers=2)
        processes = [process.pid for process in loader._functions._workers._processes]
        loader.close()
        self.assertTrue(self.ended(processes))

    def test_processes_end_with_a_killed_parent(self):
        for method in METHODS:
            done = self.script(f'''
import os, signal
def pid(sample):
    return {{"pid": os.getpid()}}
if __name__ == "__main__":
    loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(pid, {{"pid": "int64"}})],
                               batch_size=8, workers=2, multiprocessing_context="{method}")
    print(*next(iter(loader))["pid"], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)''')
            self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
            self.assertTrue(self.ended(set(map(int, done.stdout.split()))), method)

    def test_the_program_ends_with_a_loader(self):
        for end in 'sys.exit(3)', 'raise ValueError("the end")', 'pass':
            done = self.script(f'''
def call(sample):
    return {{"x": sum(range(10000)) > 0}}
if __name__ == "__main__":
    loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(call, {{"x": "uint8"}})],
                               batch_size=8, workers=2)
    next(iter(loader))
    {end}''')
            self.assertEqual(done.returncode, {'s': 3, 'r': 1, 'p': 0}[end[0]], done.stderr)
            self.assertEqual('the end' in done.stderr, end[0] == 'r', done.stderr)
            self.assertNotIn('terminate', done.stderr)

    def test_ctrl_c(self):
        done = ctrl_c(self.folder, ENDLESS, self.folder / 'shards', 2, before=SLOW_CALLS,
                      begin=LOADER_OF_CALLS, seconds=0.5)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ('interrupted\n', '', 0))

    def test_ctrl_c_while_they_start(self):
        """Those that are started anew take long to come as far as to say that it is not for them."""
        for method in 'fork', 'spawn':
            done = self.script(f'''
import os, signal, time
def call(sample):
    return {{"x": 1}}
if __name__ == "__main__":
    os.setpgrp()
    loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(call, {{"x": "uint8"}})],
                               batch_size=8, workers=2, multiprocessing_context="{method}")
    try:
        os.killpg(os.getpgrp(), signal.SIGINT)
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        print("interrupted", sum(map(len, loader)) == 8 * len(loader))''')
            self.assertEqual((done.stdout, done.stderr, done.returncode),
                             ('interrupted True\n', '', 0), method)

    def test_a_forked_child_leaves_them_alone(self):
        loader = self.loader(drawing(), workers=2)
        expected = [batch['draw'].tolist() for batch in loader]
        child = os.fork()
        if child == 0:
            try:
                loader.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        loader.set_epoch(0)
        self.assertEqual([batch['draw'].tolist() for batch in loader], expected)


if __name__ == '__main__':
    main()
