"""recpack_io.Loader: batches, epochs, states, and what users do to them."""
import hashlib
import json
import os
import subprocess
import sys
import unittest
import weakref
from unittest import mock

import numpy as np
import recpack_io
from recpack_io import Loader, _core, loading
from recpack_io.adapting.ahead import AheadLoader
from support import CIFAR, InFolder, main, pack, recpack

SCRIPT = '''
import sys, recpack_io
dataset = recpack_io.open(sys.argv[1])
'''


class Loading(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def loader(self, **options):
        return Loader(self.dataset, **{'recipe': 'cifar10-train', 'batch_size': 8, 'seed': 3} | options)

    def script(self, text, *arguments, **options):
        return subprocess.run([sys.executable, '-c', SCRIPT + text, str(self.folder / 'shards'),
                               *map(str, arguments)], text=True, capture_output=True, timeout=60,
                              check=False, **options)


def digests(batches):
    """As `recpack batches` prints them: of all arrays, and the mask."""
    return [hashlib.sha256(b''.join([batch[name].tobytes() for name in batch]
                                    + [batch.mask.tobytes()])).hexdigest() for batch in batches]


class SameBatches(Loading):
    def test_bit_for_bit_those_of_the_program(self):
        lines = recpack('batches', self.folder / 'shards', '--recipe', 'cifar10-train', '--batch-size',
                        8, '--seed', 3, '--json').splitlines()
        said = [line for line in map(json.loads, lines) if 'sha256' in line]
        self.assertEqual(digests(self.loader()), [line['sha256'] for line in said])

    def test_threads_change_nothing(self):
        expected = digests(self.loader(threads=1, prefetch=2))
        for threads, prefetch in (2, 3), (5, 8):
            self.assertEqual(digests(self.loader(threads=threads, prefetch=prefetch)), expected)

    def test_ranks_share_the_epoch(self):
        ids = [number for rank in range(3)
               for batch in self.loader(rank=rank, world_size=3, last_batch='pad')
               for number in batch.ids[batch.mask == 1]]
        self.assertEqual(sorted(ids), list(range(len(self.dataset))))

    @unittest.skipIf('RECPACK_EMULATED' in os.environ, 'starts programs of another processor')
    def test_rank_of_a_launcher(self):
        for names in (('RANK', 'WORLD_SIZE'), ('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'),
                      ('SLURM_PROCID', 'SLURM_STEP_NUM_TASKS')):
            done = self.script(
                'loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8)\n'
                'print(next(iter(loader)).ids.tolist())', env=os.environ | dict(zip(names, '12')))
            expected = next(iter(self.loader(seed=0, rank=1, world_size=2))).ids.tolist()
            self.assertEqual(done.stdout.strip(), str(expected), done.stderr)

    def test_rank_of_a_jax_that_does_not_say_whether_it_is_distributed(self):
        jax = mock.Mock(process_index=lambda: 1, process_count=lambda: 2, distributed=object())
        for client, place in (None, (0, 1)), (object(), (1, 2)):
            state = mock.Mock(global_state=mock.Mock(client=client))
            with mock.patch.dict(sys.modules, {'jax': jax, 'jax._src.distributed': state}):
                self.assertEqual(loading.place_of_process(), place)


class Fields(Loading):
    def test_types_and_layouts(self):
        for kind, numpy in ('f32', np.float32), ('f16', np.float16), ('u8', np.uint8):
            fields = recpack_io.recipe('cifar10-eval', type=kind, layout='nhwc')
            batch = next(iter(self.loader(recipe=None, fields=fields)))
            self.assertEqual((batch['image'].shape, batch['image'].dtype), ((8, 32, 32, 3), numpy))
            self.assertEqual((batch['label'].shape, batch['label'].dtype), ((8,), np.int64))

    def test_fields_of_ones_own(self):
        fields = [recpack_io.Bytes('image', shape=[3, 32, 32]), recpack_io.Id(),
                  recpack_io.Numbers('class', feature='label', type='i32')]
        for batch in self.loader(recipe=None, fields=fields):
            for image, number, label in zip(batch['image'], batch['id'], batch['class']):
                record = self.dataset[int(number)]
                self.assertEqual((image.tobytes(), label), (record['image'].tobytes(),
                                                            record['label'][0]))

    def test_other_devices_have_loaders_of_their_own(self):
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'not on cuda:0: .*recpack_io.torch'):
            self.loader(device='cuda:0')
        self.assertEqual(len(next(iter(self.loader(device=None)))), 8)

    def test_what_is_no_field(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "'f64'; choose one of u8, i32, f16"):
            recpack_io.Image(type='f64')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'choose one of: cifar10-train'):
            recpack_io.Loader(self.dataset, 'cifar')
        with self.assertRaisesRegex(TypeError, 'one of them'):
            recpack_io.Loader(self.dataset)
        with self.assertRaises(KeyError):
            next(iter(self.loader()))['nothing']


class Epochs(Loading):
    def test_each_iteration_is_an_epoch(self):
        loader = self.loader()
        epochs = [[batch.epoch for batch in loader] for _ in range(3)]
        self.assertEqual(epochs, [[epoch] * len(loader) for epoch in range(3)])

    def test_ends_after_its_epochs(self):
        endless, loader = self.loader(), self.loader(epochs=2)
        for epoch in range(2):
            self.assertEqual(digests(loader), digests(endless), epoch)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'all 2 epochs .* raise `epochs`'):
            next(iter(loader))
        state = endless.state_dict()
        loader = self.loader(epochs=3)
        loader.load_state_dict(state)
        self.assertEqual(digests(loader), digests(endless))  # of epochs 0 and 1 nothing is repeated
        with self.assertRaises(recpack_io.InvalidArgumentError):
            next(iter(loader))
        loader.set_epoch(1)
        self.assertEqual(len(digests(loader)), len(loader))
        with self.assertRaisesRegex(TypeError, 'epochs cannot be -1'):
            self.loader(epochs=-1)

    def test_an_iteration_that_is_left_ends_the_epoch(self):
        loader = self.loader()
        for _ in loader:
            break
        self.assertEqual([batch.epoch for batch in loader], [1] * len(loader))

    def test_set_epoch(self):
        loader = self.loader()
        expected = [digests(loader) for _ in range(3)]
        loader.set_epoch(1)
        self.assertEqual(digests(loader), expected[1])
        next(iter(loader))
        loader.set_epoch(2)
        self.assertEqual(digests(loader), expected[2])

    def test_a_state_goes_on_behind_its_batch(self):
        loader = self.loader()
        expected = digests(loader) + digests(loader)
        for taken in range(2 * len(loader) - 1):
            first = self.loader()
            seen = 0
            while seen <= taken:
                for _ in first:
                    seen += 1
                    if seen > taken:
                        break
            other = self.loader(threads=3)
            other.load_state_dict(json.loads(json.dumps(first.state_dict())))
            rest = digests(other)
            if taken < len(loader):  # the rest of the first epoch, after its last batch nothing
                self.assertEqual(len(rest), len(loader) - taken - 1)
                rest += digests(other)
            self.assertEqual(rest, expected[taken + 1:], taken)

    def test_set_epoch_keeps_a_state_of_that_epoch(self):
        first = self.loader()
        batches = iter(first)
        next(batches)
        state, expected = first.state_dict(), digests(batches)
        other = self.loader()
        other.load_state_dict(state)
        other.set_epoch(0)
        self.assertEqual(digests(other), expected)

    def test_set_epoch_behind_a_state_with_nothing_left(self):
        for batch in self.loader():
            token = batch.token
        other = self.loader()
        other.load_state_dict({'version': 1, 'token': token})
        self.assertEqual(digests(other), [])
        other.set_epoch(0)
        self.assertEqual(digests(other), digests(self.loader()))

    def test_a_state_of_another_seed(self):
        state = self.loader(seed=4).state_dict()
        loader = self.loader()
        batches = iter(loader)
        next(batches)
        mine = loader.state_dict()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'has seed 4, the loader has seed 3'):
            loader.load_state_dict(state)
        self.assertEqual(loader.state_dict(), mine)
        self.assertEqual(len(list(batches)), len(loader) - 1)

    def test_a_window_of_given_sizes(self):
        expected = digests(self.loader(order='window:2:4:2'))
        self.assertEqual(digests(self.loader(order=('window', 2, 4, 2))), expected)
        self.assertNotEqual(digests(self.loader(order='window')), expected)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "order 'window:0:4:2'.*window:BLOCK:LANES:WINDOW"):
            self.loader(order=('window', 0, 4, 2))

    def test_a_states_order_is_that_of_later_epochs(self):
        first = self.loader(order='sequential')
        expected = [digests(first) for _ in range(3)]
        first.set_epoch(0)
        next(iter(first))
        loader = self.loader()
        loader.load_state_dict(first.state_dict())
        self.assertEqual(digests(loader), expected[0][1:])
        next(iter(loader))
        self.assertEqual(digests(loader), expected[2])  # what was left in the middle is over
        loader.set_epoch(1)
        self.assertEqual(digests(loader), expected[1])

    def test_a_state_of_something_else(self):
        for state, kind in (({'version': 7, 'token': ''}, ValueError),
                            ({'version': 1, 'token': 'nonsense'}, recpack_io.InvalidArgumentError)):
            with self.assertRaises(kind):
                self.loader().load_state_dict(state)
        state = Loader(recpack_io.open(self.folder / 'shards', split='eval'), 'cifar10-train',
                       batch_size=4).state_dict()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'another data set'):
            self.loader().load_state_dict(state)


class StateFiles(Loading):
    def setUp(self):
        super().setUp()
        self.file = self.folder / 'state.json'

    def test_goes_on_behind_its_batch(self):
        expected = [batch.ids.tolist() for batch in self.loader()]
        loader = self.loader()
        for number, _ in enumerate(loader):
            loader.save_state(self.file)
            if number == 2:
                break
        self.assertEqual([path.name for path in self.folder.glob('state*')], ['state.json'])
        loader = self.loader()
        self.assertTrue(loader.load_state(self.file))
        self.assertEqual([batch.ids.tolist() for batch in loader], expected[3:])

    def test_one_that_is_missing(self):
        loader = self.loader()
        self.assertFalse(loader.load_state(self.file, missing_ok=True))
        with self.assertRaisesRegex(recpack_io.NotFoundError, 'state.json.*save_state'):
            loader.load_state(self.file)

    def test_what_is_no_state(self):
        for text in '', '[]', '{"version": 1}', 'no JSON':
            self.file.write_text(text)
            with self.subTest(text), self.assertRaisesRegex(recpack_io.CorruptError, 'state.json.* is no state'):
                self.loader().load_state(self.file, missing_ok=True)

    def test_a_failure_leaves_the_earlier_one(self):
        loader = self.loader()
        loader.save_state(self.file)
        before = self.file.read_text()
        with mock.patch('os.fsync', side_effect=OSError(28, 'No space left on device')):
            with self.assertRaises(OSError):
                loader.save_state(self.file)
        self.assertEqual(self.file.read_text(), before)
        self.assertEqual([path.name for path in self.folder.glob('state*')], ['state.json'])


class ByPath(Loading):
    def test_as_what_is_opened(self):
        options = {'recipe': 'cifar10-eval', 'batch_size': 8, 'seed': 3}
        for path in self.folder / 'shards', str(self.folder / 'shards'):
            opened = recpack_io.open(path, split='eval')
            self.assertEqual(digests(Loader(path, split='eval', **options)), digests(Loader(opened, **options)))
            loader = Loader(path, **options)
            self.assertEqual(loader.dataset.split, 'train')
            self.assertEqual(digests(loader), digests(Loader(self.dataset, **options)))

    def test_a_split_of_what_is_open(self):
        with self.assertRaisesRegex(TypeError, 'split is for a path'):
            self.loader(split='eval')

    def test_what_is_not_there(self):
        with self.assertRaisesRegex(recpack_io.NotFoundError, 'nowhere'):
            Loader(self.folder / 'nowhere', 'cifar10-train')
        with self.assertRaisesRegex(recpack_io.NotFoundError, 'test'):
            Loader(self.folder / 'shards', 'cifar10-train', split='test')


class BatchTypes(Loading):
    def test_what_compares_in_its_own_way(self):
        """As arrays do, and what has no say on None."""
        class Incomparable:
            def __eq__(self, other):
                raise TypeError('not to be compared')
        for kind in (lambda core: core.ndarray('image'), lambda core: Incomparable(), lambda core: None):
            loader = self.loader(batch_type=kind)
            for _ in range(2):
                self.assertEqual(sum(1 for _ in loader), len(loader))

    def test_no_batch_is_kept(self):
        class Mine:
            def __init__(self, core):
                self.core = core
        batches = iter(self.loader(batch_type=Mine))
        for _ in range(2):
            given = weakref.ref(next(batches))
            self.assertIsNone(given())


class Plain(AheadLoader):
    """Batches of the core, some of them on their way."""

    def _send(self, core):
        return core


class OnTheirWay(Loading):
    def ahead(self, kind=Plain):
        return kind(self.dataset, 'cifar10-train', batch_size=8, seed=3, ahead=2)

    def test_a_run_that_is_interrupted_before_its_first_batch(self):
        class Interrupted(Plain):
            def _send(self, core):
                if core.number == 1:
                    raise KeyboardInterrupt
                return core
        loader = self.ahead(Interrupted)
        with self.assertRaises(KeyboardInterrupt):
            next(iter(loader))
        self.assertEqual(loader.state_dict(), self.ahead().state_dict())

    def test_what_fails_fails_in_its_turn(self):
        class Failing(Plain):
            def _send(self, core):
                if core.number == 3:
                    raise MemoryError('of the device')
                return core
        loader, given = self.ahead(Failing), []
        with self.assertRaisesRegex(MemoryError, 'of the device'):
            for batch in loader:
                given.append(batch.number)
                state = loader.state_dict()
        self.assertEqual(given, [0, 1, 2])
        self.assertEqual(loader.state_dict(), state)

    def test_a_state_that_is_refused_changes_nothing(self):
        loader = self.ahead()
        batches = iter(loader)
        next(batches)
        state = loader.state_dict()
        with self.assertRaises(recpack_io.InvalidArgumentError):
            loader.load_state_dict({'version': 1, 'token': 'nonsense'})
        self.assertEqual(loader.state_dict(), state)

    def test_states_at_an_epochs_end(self):
        loader, plain = self.ahead(), self.loader()
        for _ in range(2):
            for mine, batch in zip(loader, plain, strict=True):
                self.assertEqual(loader.state_dict()['token'], batch.token)
            self.assertEqual(loader.state_dict(), plain.state_dict())


class Lifetime(Loading):
    def test_closed_while_it_begins_anew(self):
        """By the handler of a signal, say."""
        loader = self.loader()
        made = []

        def closed_meanwhile(*given):
            made.append(_core.Loader(*given))
            loader.close()
            return made[0]
        with mock.patch.object(loading, '_core', mock.Mock(Loader=closed_meanwhile)):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'was closed'):
                loader.set_epoch(1)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'was closed'):
            made[0].next()

    def test_arrays_keep_their_batch(self):
        loader = self.loader(prefetch=4)
        first = next(iter(loader))['image']
        copy = first.copy()
        del loader
        self.assertTrue((first == copy).all())

    def test_dlpack_without_a_copy(self):
        batch = next(iter(self.loader()))
        there = np.from_dlpack(batch.dlpack('image'))
        self.assertEqual(there.ctypes.data, batch['image'].ctypes.data)


class Damaged(Loading):
    def test_a_damaged_record(self):
        shard = next((self.folder / 'shards').glob('train-*'))
        place = self.dataset.place_of(2)
        data = bytearray(shard.read_bytes())
        data[place[1] + 20] ^= 1
        shard.write_bytes(data)
        with self.assertRaises(recpack_io.CorruptError) as caught:
            for _ in self.loader():
                pass
        self.assertEqual((caught.exception.path, caught.exception.ordinal), (str(shard), 2))
        loader = self.loader(on_bad_record='substitute', max_bad_share=0.5,
                             ledger=self.folder / 'ledger')
        seen = sum(len(batch) for batch in loader)
        self.assertEqual(seen, 8 * len(loader))
        self.assertEqual(len((self.folder / 'ledger').read_text().splitlines()), 1)

        # A relative one stays where it is, also where the loader begins anew.
        self.addCleanup(os.chdir, os.getcwd())
        (self.folder / 'other').mkdir()
        os.chdir(self.folder)
        loader = self.loader(on_bad_record='substitute', max_bad_share=0.5, ledger='relative',
                             last_batch='pad')
        os.chdir('other')
        for epoch in 0, 1:
            loader.set_epoch(epoch)
            for _ in loader:
                pass
            loader.set_epoch(7)
        self.assertEqual(os.listdir('.'), [])
        self.assertEqual(len((self.folder / 'relative').read_text().splitlines()), 2)


class RawPictures(InFolder):
    def test_interleaved_ones_are_as_planar_ones(self):
        chance = np.random.default_rng(3)
        for channels in 1, 3:
            with recpack_io.Writer(self.folder / 'data') as writer:
                for label in range(12):
                    pixels = chance.integers(0, 256, (20, 30, channels), np.uint8)
                    writer.write({'planar': pixels.transpose(2, 0, 1), 'pixels': pixels, 'label': label})
            dataset = recpack_io.open(self.folder / 'data')
            self.assertEqual(dataset[0]['pixels'].shape, (20, 30, channels))
            self.assertEqual(dataset[0]['planar'].shape, (channels, 20, 30))
            for options in ({'height': 20, 'width': 30}, {'height': 16, 'width': 18, 'crop': 'pad', 'pad': 3},
                            {'height': 20, 'width': 30, 'crop': 'resize'}, {'height': 11, 'width': 13, 'crop': 'resize'},
                            {'height': 16, 'width': 24, 'crop': 'random-resized'},
                            {'height': 16, 'width': 16, 'crop': 'resize-centre', 'resize': 18},
                            {'height': 16, 'width': 18, 'crop': 'pad', 'pad': 3, 'policy': 'trivialaugment'}):
                if channels == 1 and 'policy' in options:
                    continue
                for kind, layout in (('u8', 'nhwc'), ('f32', 'nchw')):
                    both = [recpack_io.Image(name, feature=name, raw_shape=(channels, 20, 30), raw_layout=order, flip=0.5,
                                             type=kind, layout=layout, view=1, **options)
                            for name, order in (('planar', 'nchw'), ('pixels', 'nhwc'))]
                    for batch in recpack_io.Loader(dataset, fields=both, batch_size=4):
                        np.testing.assert_array_equal(batch['planar'], batch['pixels'], str(options))

    def test_the_shape_of_the_record_has_to_agree(self):
        pixels = np.zeros((2, 4, 3), np.uint8)
        with recpack_io.Writer(self.folder / 'data') as writer:
            writer.write({'image': pixels})
        dataset = recpack_io.open(self.folder / 'data')
        for shape, order in ((3, 2, 4), 'nchw'), ((3, 4, 2), 'nhwc'):
            image = recpack_io.Image(raw_shape=shape, raw_layout=order, height=shape[1], width=shape[2])
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, r'shape \(2, 4, 3\), field .* reads it as'):
                next(iter(recpack_io.Loader(dataset, fields=[image], batch_size=1)))

    def test_whole_ones_are_what_was_written(self):
        pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        with recpack_io.Writer(self.folder / 'data') as writer:
            writer.write({'image': pixels})
        image = recpack_io.Image(feature='image', raw_shape=(3, 2, 4), raw_layout='nhwc', height=2, width=4, type='u8', layout='nhwc')
        batch = next(iter(recpack_io.Loader(recpack_io.open(self.folder / 'data'), fields=[image], batch_size=1)))
        np.testing.assert_array_equal(batch['image'][0], pixels)

    def test_arrays_are_given_whole_to_functions(self):
        pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        with recpack_io.Writer(self.folder / 'data') as writer:
            for each in pixels, pixels[:, :, :1], pixels[:, :, 0]:
                writer.write({'image': each})
        image = recpack_io.Image(then=lambda image: image + 1, result=('uint8', (2, 4, 3)))
        batch = next(iter(recpack_io.Loader(recpack_io.open(self.folder / 'data'), fields=[image], batch_size=3, order='sequential')))
        gray = np.repeat(pixels[:, :, :1], 3, 2)
        np.testing.assert_array_equal(batch['image'], np.stack([pixels, gray, gray]) + 1)


class Mixing(Loading):
    def test_each_is_mixed_with_the_one_before(self):
        plain = [(batch['image'].copy(), batch['label'].copy()) for batch in self.loader()]
        mixes = 0
        mix = recpack_io.MixImages(classes=10, mixup_alpha=0.4)
        for batch, (images, labels) in zip(self.loader(batch_functions=[mix]), plain, strict=True):
            np.testing.assert_array_equal(batch['label'], labels)
            np.testing.assert_allclose(batch['target'].sum(1), 1, atol=1e-6)
            different = np.flatnonzero(labels != np.roll(labels, 1))
            share = batch['target'][different[0], labels[different[0]]]
            np.testing.assert_allclose(batch['image'], share * images + (1 - share) * np.roll(images, 1, 0), atol=1e-5)
            mixes += share < 1
        self.assertGreater(mixes, 0)

    def test_among_functions_and_in_processes(self):
        """Functions keep their random numbers beside a mixer, wherever they run."""
        def noise(batch):
            batch['image'][:] += batch.rng.random()
        mix = recpack_io.MixImages(classes=10, cutmix_alpha=1.0, probability=0.5, target='shares', stream=5)
        runs = [[(batch['image'].copy(), batch['shares'].copy()) for batch in self.loader(batch_functions=[noise, mix], **options)]
                for options in ({}, {'threads': 1}, {'workers': 1, 'multiprocessing_context': 'fork'})]
        for other in runs[1:]:
            for mine, theirs in zip(runs[0], other, strict=True):
                np.testing.assert_array_equal(mine[0], theirs[0])
                np.testing.assert_array_equal(mine[1], theirs[1])

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(TypeError, "MixImages\\(\\): classes cannot be '10': give an integer"):
            recpack_io.MixImages(classes='10')
        with self.assertRaises(recpack_io.InvalidArgumentError):
            self.loader(batch_functions=[recpack_io.MixImages(classes=0, mixup_alpha=1)])


if __name__ == '__main__':
    main()
