"""Functions of the user on samples and batches, on the loader's threads."""
import gc
import sys
import threading
import time
import traceback
import weakref
from contextlib import suppress

import numpy as np
import recpack_io
from calls import Calls, drawing, odd
from ctrl_c import ENDLESS, LOADER_OF_CALLS, SLOW_CALLS, ctrl_c
from recpack_io import BatchFunction, Function, Image, Loader
from support import GOLDEN, main

DECLARED = {'pair': ('int64', 2), 'half': 'float32'}


def pair(sample):
    label = sample['label'][0]
    return {'half': label / 2, 'pair': np.array([label, sample.id])}


class Arrays(Calls):
    def test_are_what_the_function_gave(self):
        for batch in self.loader(Function(pair, DECLARED)):
            self.assertEqual((batch['pair'].dtype, batch['half'].dtype), (np.int64, np.float32))
            rows = zip(batch['pair'], batch['half'], batch.ids, batch['label'])
            for values, half, number, label in rows:
                self.assertEqual((values.tolist(), half), ([label, number], label / 2))

    def test_scalars_are_taken_where_they_fit(self):
        kinds = {'byte': 'uint8', 'int': 'int32', 'single': 'float32', 'half': np.float16}
        values = {'byte': True, 'int': -7, 'single': np.float64(0.1), 'half': np.float32(0.5)}
        batch = next(iter(self.loader(Function(lambda sample: values, kinds))))
        self.assertEqual([batch[name].tolist()[0] for name in kinds],
                         [1, -7, float(np.float32(0.1)), 0.5])

    def test_of_another_order_of_bytes(self):
        def call(sample):
            return {'big': np.array([1, 2], '>f4'), 'small': np.array([3, 4], '<f4'), 'int': 5}
        kinds = {'big': ('>f4', 2), 'small': ('>f4', 2), 'int': '>i8'}
        for workers in 0, 1:
            batch = next(iter(self.loader(Function(call, kinds), workers=workers,
                                          multiprocessing_context='fork')))
            self.assertEqual([batch[name][0].tolist() for name in kinds], [[1, 2], [3, 4], 5])

    def test_know_their_place_in_the_run(self):
        def call(sample):
            return {'place': np.array([sample.epoch, sample.position, sample.id])}
        function = Function(call, {'place': ('int64', (3,))})
        loader = self.loader(function, rank=1, world_size=2)
        for epoch in range(2):
            batches = [(batch['place'].copy(), batch.ids.copy()) for batch in loader]
            places = np.concatenate([place for place, _ in batches])
            self.assertEqual(places[:, 0].tolist(), [epoch] * len(places))
            self.assertEqual(places[:, 1].tolist(), list(range(1, 2 * len(places), 2)))
            self.assertEqual(places[:, 2].tolist(), [i for _, ids in batches for i in ids])


class Samples(Calls):
    def test_are_like_dictionaries(self):
        seen = []

        def look(sample):
            seen.append((list(sample), 'label' in sample, 'lable' in sample, sample.keys()))
            with self.assertRaisesRegex(KeyError, "'lable'; the sample has: image, label"):
                sample['lable']
            return {'x': 1}
        next(iter(self.loader(Function(look, {'x': 'uint8'}))))
        self.assertEqual(seen[0], (['image', 'label'], True, False, ['image', 'label']))

    def test_arrays_are_the_functions_own(self):
        kept = {}

        def keep(sample):
            kept[sample.id] = (sample['image'], sample)
            sample['image'][:] = 0  # a copy: neither the record nor the other field sees it
            return {'x': 1}
        loader = self.loader(Function(keep, {'x': 'uint8'}))
        plain = self.loader()
        for batch, expected in zip(loader, plain):
            np.testing.assert_array_equal(batch['image'], expected['image'])
        loader.close()  # no call goes on: the next epoch's samples are made ahead
        for number, (image, sample) in kept.items():
            np.testing.assert_array_equal(image, self.dataset[number]['image'])
            with self.assertRaisesRegex(RuntimeError, 'while its function is called, not after'):
                sample['image']

    def test_are_given_the_picture_of_an_image_field(self):
        image = {'raw_shape': [3, 32, 32], 'height': 24, 'width': 28, 'crop': 'pad', 'pad': 3,
                 'flip': 0.5}
        plain = Image('plain', type='u8', layout='nhwc', **image)
        given = Function(lambda sample: {'given': sample.image}, {'given': ('uint8', (24, 28, 3))},
                         image=Image(**image))
        then = Image('then', then=lambda picture: np.float32(picture).transpose(2, 0, 1), **image)
        for batch in self.loader(plain, given, then):
            np.testing.assert_array_equal(batch['given'], batch['plain'])
            np.testing.assert_array_equal(batch['then'], batch['plain'].transpose(0, 3, 1, 2))
            self.assertEqual(batch['then'].dtype, np.float32)

    def test_know_the_crop_of_their_picture(self):
        self.check_crops()

    def test_have_no_picture_unless_they_ask(self):
        function = Function(lambda sample: {'x': sample.image is sample.crop is sample.source_size is None}, {'x': 'uint8'})
        self.assertEqual(next(iter(self.loader(function)))['x'].tolist(), [1] * 8)

    def test_decode_pictures(self):
        paths = [GOLDEN / 'image' / f'orientation{number}.jpg' for number in (1, 6)]
        for path in paths:
            pixels = recpack_io.decode_image(path.read_bytes())
            self.assertEqual((pixels.dtype, pixels.ndim, pixels.shape[2]), (np.uint8, 3, 3))
        self.assertEqual(pixels.shape, recpack_io.decode_image(
            np.frombuffer(paths[1].read_bytes(), np.uint8)).shape)
        with self.assertRaises(recpack_io.RecpackError):
            recpack_io.decode_image(b'no picture')
        cut = paths[0].read_bytes()[:-20]
        with self.assertRaises(recpack_io.CorruptError):
            recpack_io.decode_image(cut)
        self.assertEqual(recpack_io.decode_image(cut, allow_damage=True).ndim, 3)


class Randomness(Calls):
    def drawn(self, *functions, **options):
        return [{name: batch[name].tolist() for name in batch if name not in ('image', 'label')}
                for batch in self.loader(*functions, **options)]

    def test_is_keyed_by_nothing_but_the_place(self):
        expected = self.drawn(drawing(), threads=1)
        for threads in 2, 5:
            self.assertEqual(self.drawn(drawing(), threads=threads), expected)
        self.assertNotEqual(self.drawn(drawing(), seed=4), expected)
        flat = [tuple(row) for batch in expected for row in batch['draw']]
        self.assertEqual(len(set(flat)), len(flat))
        self.assertGreater(max(map(max, flat)) - min(map(min, flat)), 0.9)

    def test_differs_by_epoch(self):
        loader = self.loader(drawing())
        first, second = ([batch['draw'].tolist() for batch in loader] for _ in range(2))
        self.assertNotEqual(first, second)

    def test_does_not_depend_on_what_others_draw(self):
        def greedy(sample):
            sample.rng.random(sample.id)
            return {'greedy': sample.rng.random() if sample.id % 2 else 0.0}
        alone = self.drawn(drawing())
        both = self.drawn(drawing(), Function(greedy, {'greedy': 'float32'}))
        for batch in both:
            del batch['greedy']
        self.assertEqual(both, alone)

    def test_streams(self):
        first = drawing('first')
        same = drawing('second', stream=0)
        self.assertEqual([batch['first'] for batch in self.drawn(first)],
                         [batch['second'] for batch in self.drawn(first, same)])
        for batch in self.drawn(first, drawing('second')):
            self.assertNotEqual(batch['first'], batch['second'])

    def test_goes_on_from_a_state(self):
        loader = self.loader(drawing())
        batches = iter(loader)
        next(batches)
        state = loader.state_dict()
        rest = [batch['draw'].tolist() for batch in batches]
        other = self.loader(drawing(), threads=3)
        other.load_state_dict(state)
        self.assertEqual([batch['draw'].tolist() for batch in other], rest)


class Failures(Calls):
    def raised(self, call, kind, text, arrays=None, **options):
        loader = self.loader(Function(call, arrays or {'x': ('float32', (2, 3))}), **options)
        try:
            next(iter(loader))
        except kind as error:
            self.assertRegex(str(error), text)
            return error
        self.fail('nothing was raised')

    def test_keep_their_traceback(self):
        error = self.raised(odd, ValueError, r'^record \d+ is odd$')
        self.assertIn('in odd', ''.join(traceback.format_tb(error.__traceback__)))
        if sys.version_info >= (3, 11):
            self.assertRegex(error.__notes__[0],
                             r'train-.*at byte \d+ \(record \d+\): function odd raised')

    def test_that_utf8_cannot_say(self):
        def call(sample):
            raise ValueError('no caf\udce9')  # a name of os.listdir(), say
        error = self.raised(call, ValueError, '^no caf\udce9$')
        if sys.version_info >= (3, 11):
            self.assertIn('no caf\\udce9', error.__notes__[0])

    def test_come_again_and_leave_others_alone(self):
        loader = self.loader(Function(odd, {'x': 'uint8'}))
        for _ in range(2):
            with self.assertRaises(ValueError):
                next(iter(loader))
        self.assertEqual(len(list(map(len, self.loader()))), len(loader))

    def test_results_that_are_not_as_declared(self):
        x = np.zeros((2, 3), np.float32)
        for result, kind, text in (
                (x, TypeError, 'gave ndarray, not a dictionary of its arrays: x'),
                (None, TypeError, 'gave NoneType'),
                ({}, ValueError, "gave no 'x'; it gave: $"),
                ({'y': x}, ValueError, "gave no 'x'; it gave: y"),
                ({'x': x, 'y': x}, ValueError, "gave 'y', which is not declared: x"),
                ({'x': x.T}, ValueError, r"'x' of shape \(3, 2\), declared is \(2, 3\)"),
                ({'x': 1.0}, ValueError, r"'x' of shape \(\)"),
                ({'x': x.astype(int)}, TypeError, r'as int64, declared is float32.*"float32"'),
                ({'x': x.astype(complex)}, TypeError, 'as complex128'),
                ({'x': [['a', 'b', 'c']] * 2}, TypeError, 'declared is float32'),
                ({'x': object()}, ValueError, 'of shape')):
            self.raised(lambda sample, result=result: result, kind, text)
        self.raised(lambda sample: {'x': 300}, OverflowError, '300', {'x': 'uint8'})
        self.raised(lambda sample: {'x': 1.5}, TypeError, 'declared is uint8', {'x': 'uint8'})

    def test_declarations_that_cannot_be(self):
        for arrays, text in (({'x': 'float64'}, "'x' is declared as float64; there are uint8"),
                             ({'x': (bool, 3)}, 'as bool'), ({'x': 'nothing'}, 'nothing')):
            with self.assertRaisesRegex(TypeError, text):
                Function(odd, arrays)
        with self.assertRaisesRegex(TypeError, 'cannot be called'):
            Function('odd', {'x': 'uint8'})
        with self.assertRaisesRegex(TypeError, 'is not an Image field'):
            Function(odd, {'x': 'uint8'}, image=Image(then=odd))
        with self.assertRaisesRegex(ValueError, 'choose one of numpy, pil, torch'):
            Image(then=odd, given='jax')
        with self.assertRaisesRegex(TypeError, 'NumPy has no bf16'):
            Image(then=odd, type='bf16')
        for fields, text in (([Function(odd)], 'no arrays'),
                             ([Function(odd, {'x': ('uint8', 0)})], '0 bytes'),
                             ([Function(odd, {'x': 'uint8'})] * 2, "two arrays are called 'x'"),
                             ([Function(odd, {'x': 'uint8'}, stream=1 << 16)], 'no stream 65536')):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, text):
                Loader(self.dataset, fields=fields, batch_size=8)

    def test_what_it_calls_corrupt_is_substituted(self):
        def call(sample):
            if sample.id == 5:
                raise recpack_io.CorruptError('an odd box')
            return {'number': sample.id}
        function = Function(call, {'number': 'int64'})
        with self.assertRaisesRegex(recpack_io.CorruptError, 'an odd box'):
            for _ in self.loader(function):
                pass
        batches = list(batch['number'].tolist() for batch in self.loader(
            function, on_bad_record='substitute', max_bad_share=0.5, last_batch='pad'))
        self.assertNotIn(5, [number for batch in batches for number in batch])

    def test_exit_is_an_error(self):
        for leave in sys.exit, exit_by_ctrl_c:
            error = self.raised(lambda sample, leave=leave: leave(), RuntimeError,
                                'of the loader raised')
            self.assertIsInstance(error.__cause__, (SystemExit, KeyboardInterrupt))


def exit_by_ctrl_c():
    raise KeyboardInterrupt


class Batches(Calls):
    def test_are_changed_in_place_and_get_arrays(self):
        def change(batch):
            batch['label'] += 100
            return {'mean': batch['image'].mean((1, 2, 3), dtype=np.float64),
                    'draw': batch.rng.integers(1000, size=(len(batch.ids), 2)),
                    'place': np.full(len(batch.ids), batch.position + batch.epoch)}
        arrays = {'mean': 'float32', 'draw': ('int64', 2), 'place': 'int64'}
        function = BatchFunction(change, arrays)
        expected = None
        for threads in 1, 3:
            seen = []
            batches = self.loader(batch_functions=[function], threads=threads)
            for number, (batch, plain) in enumerate(zip(batches, self.loader())):
                np.testing.assert_array_equal(batch['label'], plain['label'] + 100)
                np.testing.assert_allclose(batch['mean'], plain['image'].mean((1, 2, 3)), atol=1e-5)
                self.assertEqual(batch['place'].tolist(), [8 * number] * 8)
                seen.append(batch['draw'].tolist())
            expected = expected or seen
            self.assertEqual(seen, expected)
            self.assertNotEqual(seen[0], seen[1])

    def test_one_behind_the_other(self):
        def double(batch):
            batch['label'] *= 2

        def add(batch):
            batch['label'] += batch.ids.astype(np.int64) * 0 + 1
        for batch, plain in zip(self.loader(batch_functions=[double, add]), self.loader()):
            np.testing.assert_array_equal(batch['label'], plain['label'] * 2 + 1)

    def test_short_batches(self):
        def size(batch):
            return {'size': np.full(len(batch.ids), sum(batch.mask))}
        loader = self.loader(batch_functions=[BatchFunction(size, {'size': 'int64'})],
                             last_batch='keep', batch_size=7)
        sizes = []
        for batch in loader:
            self.assertEqual(batch['size'].tolist(), [len(batch)] * len(batch))
            sizes.append(len(batch))
        self.assertLess(sizes[-1], 7)

    def test_failures(self):
        kept = []
        for call, arrays, kind, text in (
                (odd, {}, AttributeError, "no attribute 'id'"),
                (lambda batch: {'y': 1}, {}, ValueError, "gave 'y', which is not declared"),
                (lambda batch: None, {'y': 'uint8'}, ValueError, "gave no 'y'"),
                (lambda batch: {'y': np.zeros(3)}, {'y': 'float32'}, ValueError,
                 r'shape \(3,\), declared is \(8,\)'),
                (lambda batch: batch['nothing'], {}, KeyError, 'nothing'),
                (lambda batch: kept.append(batch['image'][0, 0]), {},
                 recpack_io.InvalidArgumentError, 'keeps views of a batch.*keep copies'),
                (lambda batch: sys.exit(), {}, RuntimeError, 'SystemExit')):
            with self.assertRaisesRegex(kind, text) as caught:
                next(iter(self.loader(batch_functions=[BatchFunction(call, arrays)])))
        self.assertRegex(caught.exception.__notes__[0] if sys.version_info >= (3, 11) else
                         'from position 0 of epoch 0', 'from position 0 of epoch 0')
        for view in kept:
            view.copy()  # of memory that is still there

    def test_names_that_are_there_already(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "arrays are called 'label'"):
            self.loader(batch_functions=[BatchFunction(odd, {'label': 'int64'})])


class Lifetime(Calls):
    def test_an_object_that_holds_its_loader_is_collected(self):
        class Module:
            def call(self, sample):
                return {'x': 1}
        module = Module()
        module.loader = self.loader(Function(module.call, {'x': 'uint8'}))
        next(iter(module.loader))
        gone = weakref.ref(module)
        del module
        self.collected(gone)

    def collected(self, gone):
        """Soon: a call that goes on keeps what it is of."""
        deadline = time.monotonic() + 60
        while gone() is not None and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.01)
        self.assertIsNone(gone())

    def test_one_whose_function_raised_is_collected(self):
        """The error, which the loader keeps, has the frames that it came through."""
        field, of_batches = [Function(odd, {'x': 'uint8'})], {'batch_functions': [odd]}
        for fields, options in (field, {}), ([], of_batches), (field, {'workers': 1}), \
                ([], of_batches | {'workers': 1}):
            def run():
                loader = self.loader(*fields, **options)
                for _ in range(2):
                    with self.subTest(options=options), suppress(ValueError, AttributeError):
                        for _ in loader:
                            pass
                return weakref.ref(loader)
            self.collected(run())

    def test_no_references_are_left(self):
        before = sys.getrefcount(pair)
        for _ in range(20):
            for batch in self.loader(Function(pair, DECLARED)):
                batch['pair']
        with self.assertRaises(ValueError):
            next(iter(self.loader(Function(odd, {'x': 'uint8'}))))
        self.assertEqual(sys.getrefcount(pair), before)

    def test_threads_keep_what_is_theirs(self):
        mine, made = threading.local(), []

        def call(sample):
            if not hasattr(mine, 'tool'):
                mine.tool = object()
                made.append(threading.get_ident())
            return {'x': 1}
        loader = self.loader(Function(call, {'x': 'uint8'}), threads=3)
        for _ in range(4):
            for _ in loader:
                pass
        loader.close()
        self.assertLessEqual(len(made), 3)
        self.assertEqual(len(set(made)), len(made))

    def test_closed(self):
        loader = self.loader(Function(pair, DECLARED))
        kept = next(iter(loader))['pair']
        copy = kept.copy()
        loader.close()
        loader.close()
        np.testing.assert_array_equal(kept, copy)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'was closed'):
            next(iter(loader))

    def test_closed_by_its_own_function(self):
        done = self.script('''
import threading
def close(sample):
    there.wait()
    loader.close()
    return {"x": 1}
for threads in 1, 3:
    there = threading.Event()
    loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(close, {"x": "uint8"})],
                               batch_size=8, threads=threads)
    there.set()
    try:
        for batch in loader:
            pass
    except recpack_io.InvalidArgumentError as error:
        print("closed" in str(error))''')
        self.assertEqual((done.stdout, done.stderr), ('True\nTrue\n', ''))

    def test_closed_by_its_own_function_where_no_thread_can_be_started(self):
        """It ends with the program."""
        done = self.script('''
import resource, threading
def start_all_threads():
    """Those that have ended leave memory for others."""
    try:
        while True:
            threading.Thread(target=closed.wait).start()
    except RuntimeError:
        pass
def close(sample):
    there.wait()
    if not closed.is_set():
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), hard))
        start_all_threads()
        loader.close()
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        closed.set()
    return {"x": 1}
there, closed = threading.Event(), threading.Event()
loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(close, {"x": "uint8"})],
                           batch_size=8, threads=1)
there.set()
closed.wait()
try:
    next(iter(loader))
except recpack_io.InvalidArgumentError as error:
    print("closed" in str(error))''')
        self.assertEqual((done.stdout, done.stderr, done.returncode), ('True\n', '', 0))

    def test_made_and_let_go_of_at_once(self):
        """Threads wait for the interpreter's lock, which the one that ends them has."""
        done = self.script('''
import recpack_io, time
def call(sample):
    sum(range(1000))
    return {"x": 1}
for _ in range(100):
    loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(call, {"x": "uint8"})],
                               batch_size=8, threads=4)
    del loader
print("done")''')
        self.assertEqual((done.stdout, done.returncode), ('done\n', 0), done.stderr)

    def test_the_program_ends_with_a_loader(self):
        for end in 'sys.exit(3)', 'raise ValueError("the end")', 'pass':
            done = self.script(f'''
def call(sample):
    sum(range(10000))
    return {{"x": 1}}
loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(call, {{"x": "uint8"}})],
                           batch_size=8)
batches = iter(loader)
next(batches)
keep = [loader]
keep.append(keep)
{end}''')
            self.assertEqual(done.returncode, {'s': 3, 'r': 1, 'p': 0}[end[0]], done.stderr)
            self.assertEqual('the end' in done.stderr, end[0] == 'r')
            self.assertNotIn('terminate', done.stderr)

    def test_a_worker_is_never_the_main_thread(self):
        """As it would be if it were the first to import threading, which numpy.random does."""
        done = self.script('''
def call(sample):
    sample.rng.random()
    raise ValueError("the end")
batches = iter(recpack_io.Loader(dataset, fields=[recpack_io.Function(call, {"x": "uint8"})], batch_size=8))
next(batches)''')
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_a_function_that_does_not_end(self):
        for calls in 'fields=[recpack_io.Function(call, {"x": "uint8"})]', \
                'recipe="cifar10-eval", batch_functions=[call]':
            done = self.script(f'''
import os, signal, threading
def call(what):
    while True:
        pass
loader = recpack_io.Loader(dataset, batch_size=8, {calls})
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    next(iter(loader))
except KeyboardInterrupt:
    print("interrupted")''')
            self.assertEqual((done.stdout, done.returncode), ('interrupted\n', 0), done.stderr)

    def test_ctrl_c(self):
        done = ctrl_c(self.folder, ENDLESS, self.folder / 'shards', 0, before=SLOW_CALLS,
                      begin=LOADER_OF_CALLS)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ('interrupted\n', '', 0))


if __name__ == '__main__':
    main()
