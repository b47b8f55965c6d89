"""recpack_io.tensorflow: batches as eager tensors and as a tf.data.Dataset."""
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'

import numpy as np
import recpack_io
import tensorflow as tf
from recpack_io.tensorflow import Loader
from support import CIFAR, InFolder, main, pack


def address(tensor):
    return np.asarray(memoryview(tensor)).ctypes.data


class TensorFlow(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def loader(self, kind=Loader, **options):
        return kind(self.dataset, **{'recipe': 'cifar10-train', 'batch_size': 8, 'seed': 3} | options)

    def test_an_argument_that_there_is_not(self):
        with self.assertRaisesRegex(TypeError, r"Loader\(\) has no .*'batch_sise': .*'batch_size'"):
            self.loader(batch_sise=4)

    def test_tensors_without_a_copy(self):
        for mine, plain in zip(self.loader(), self.loader(recpack_io.Loader), strict=True):
            for name in plain:
                np.testing.assert_array_equal(mine[name].numpy(), plain[name])
            theirs = tf.experimental.dlpack.from_dlpack(plain.dlpack('image').__dlpack__())
            self.assertEqual(address(theirs), plain['image'].ctypes.data)

    def test_elements_are_the_batches_epoch_by_epoch(self):
        loader, plain = self.loader(), self.loader(recpack_io.Loader)
        dataset = loader.as_dataset()
        for _ in range(3):
            for mine, expected in zip(dataset, plain, strict=True):
                for name in expected:
                    np.testing.assert_array_equal(mine[name].numpy(), expected[name])

    def test_ragged_elements(self):
        def times(sample):
            return {'times': np.full(sample.id % 3, sample.id)}
        fields = [recpack_io.Id(), recpack_io.Function(times, {'times': ('int64', recpack_io.Ragged(2))})]
        for batch in self.loader(recipe=None, fields=fields).as_dataset():
            rows = tf.RaggedTensor.from_row_splits(batch['times'], batch['times_offsets'])
            self.assertEqual(rows.to_list(), [[number] * (number % 3) for number in batch['id'].numpy().tolist()])

    def test_elements_without_a_copy(self):
        given = []

        class Watched(Loader):
            def _next(self):
                batches = super()._next()
                given.extend(address(batch['image']) for batch in batches)
                return batches

        taken = [address(element['image']) for element in self.loader(Watched).as_dataset()]
        self.assertEqual(taken, given)

    def test_spec_is_that_of_the_elements(self):
        for kind, of in (('f32', tf.float32), ('f16', tf.float16), ('bf16', tf.bfloat16),
                         ('u8', tf.uint8)):
            fields = recpack_io.recipe('cifar10-eval', type=kind, layout='nhwc')
            loader = self.loader(recipe=None, fields=fields)
            dataset = loader.as_dataset()
            self.assertEqual(dataset.element_spec, loader.element_spec)
            image = dataset.element_spec['image']
            self.assertEqual((image.dtype, image.shape), (of, (8, 32, 32, 3)))
            element = next(iter(dataset))
            for name, spec in dataset.element_spec.items():
                self.assertTrue(spec.is_compatible_with(element[name]), (name, spec))

    def test_a_short_last_batch(self):
        loader = self.loader(last_batch='keep', batch_size=7)
        self.assertEqual(loader.element_spec['label'].shape.as_list(), [None])
        sizes = [len(element['label']) for element in loader.as_dataset()]
        self.assertEqual((sum(sizes), sizes[-1]), (len(self.dataset), len(self.dataset) % 7 or 7))

    def test_the_mask_tells_what_only_fills_up(self):
        options = {'recipe': 'cifar10-eval', 'last_batch': 'pad', 'batch_size': 7, 'order': 'sequential'}
        plain = [batch.mask.astype(bool).tolist() for batch in self.loader(recpack_io.Loader, **options)]
        self.assertEqual(sum(map(sum, plain)), len(self.dataset))
        self.assertFalse(all(plain[-1]))
        masks = [batch.mask for batch in self.loader(**options)]
        self.assertEqual({mask.dtype for mask in masks}, {tf.bool})
        self.assertEqual([mask.numpy().tolist() for mask in masks], plain)

        loader = self.loader(**options)
        self.assertNotIn('mask', loader.as_dataset().element_spec)
        dataset = loader.as_dataset(mask='counts')
        self.assertEqual(dataset.element_spec['counts'], tf.TensorSpec((7,), tf.bool, 'counts'))
        self.assertEqual([element['counts'].numpy().tolist() for element in dataset], plain)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "an array 'label'"):
            loader.as_dataset(mask='label')

    def test_keras_counts_no_sample_twice(self):
        """What fills up the last batch has no weight."""
        loader = self.loader(recipe=None, fields=recpack_io.recipe('cifar10-eval', layout='nhwc'),
                             last_batch='pad', batch_size=7)
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
        model.compile(weighted_metrics=['sparse_categorical_accuracy'],
                      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        triples = loader.as_dataset('mask', as_tuple=True)
        accuracy = model.evaluate(triples, verbose=0, return_dict=True)['sparse_categorical_accuracy']
        whole = self.loader(recipe=None, fields=recpack_io.recipe('cifar10-eval', layout='nhwc'),
                            last_batch='keep', batch_size=7)
        right = sum(int((model(batch['image']).numpy().argmax(1) == batch['label'].numpy()).sum())
                    for batch in whole)
        self.assertAlmostEqual(accuracy * len(self.dataset), right, places=3)

    def test_bf16_is_rounded_f32(self):
        rounded = self.loader(recipe=None, fields=recpack_io.recipe('cifar10-train', type='bf16'))
        for mine, exact in zip(rounded.as_dataset(), self.loader(), strict=True):
            np.testing.assert_array_equal(mine['image'].numpy(),
                                          tf.cast(exact['image'], tf.bfloat16).numpy())

    def test_with_what_is_put_behind(self):
        """map, prefetch and a repeat, as programs have them."""
        loader = self.loader()
        dataset = loader.as_dataset().map(lambda batch: batch['label'] + 1).prefetch(2).repeat(3)
        labels = [label - 1 for batch in dataset for label in batch.numpy()]
        plain = self.loader(recpack_io.Loader)
        expected = [label for _ in range(3) for batch in plain for label in batch['label']]
        self.assertEqual(labels, expected)

    def test_states_go_on(self):
        first = self.loader()
        elements = iter(first.as_dataset())
        next(elements), next(elements)
        other = self.loader()
        other.load_state_dict(first.state_dict())
        rest, others = ([element['label'].numpy().tolist() for element in each]
                        for each in (elements, other.as_dataset()))
        self.assertEqual(others, rest)

    def test_keras_knows_the_length(self):
        loader = self.loader()
        dataset = loader.as_dataset()
        self.assertEqual(len(dataset), len(loader))
        self.assertEqual([len(list(dataset)), len(list(dataset))], 2 * [len(loader)])
        elements = iter(dataset)
        next(elements), next(elements)
        state = loader.state_dict()
        with self.assertRaisesRegex(Exception, 'loaded after as_dataset'):
            loader.load_state_dict(state)
            list(dataset)
        loader.load_state_dict(state)
        rest = loader.as_dataset()
        self.assertEqual(rest.cardinality(), tf.data.UNKNOWN_CARDINALITY)
        self.assertEqual([len(list(rest)), len(list(rest))], [len(loader) - 2, len(loader)])

    def test_keras_takes_it(self):
        loader = self.loader(recipe=None, fields=recpack_io.recipe('cifar10-train', layout='nhwc'))
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
        model.compile('sgd', tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        pairs = loader.as_dataset(as_tuple=True)
        self.assertEqual(pairs.cardinality(), len(loader))
        self.assertEqual([spec.shape[1:] for spec in pairs.element_spec], [(32, 32, 3), ()])
        history = model.fit(pairs, epochs=2, verbose=0)
        self.assertEqual(len(history.history['loss']), 2)

    def test_errors_name_the_record(self):
        shard = next((self.folder / 'shards').glob('train-*'))
        data = bytearray(shard.read_bytes())
        data[self.dataset.place_of(2)[1] + 20] ^= 1
        shard.write_bytes(data)
        with self.assertRaisesRegex(Exception, 'CRC'):
            list(self.loader(order='sequential').as_dataset())


if __name__ == '__main__':
    main()
