"""recpack_io.Writer: dictionaries as records of one shard."""
import array
import math
import os

import numpy as np
import recpack_io
from support import COMPRESSIONS, InFolder, cat, main, recpack


class Writing(InFolder):
    def setUp(self):
        super().setUp()
        self.shard = self.folder / 'train-00000-of-00001.tfrecord'

    def written(self, *records, **options):
        with recpack_io.Writer(self.shard, **options) as writer:
            for record in records:
                writer.write(record)
        return cat(self.shard)

    def value(self, value):
        """(kind, values) as the program reads what was written."""
        return self.written({'it': value})[0]['it']

    def refused(self, value, said):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, said):
            with recpack_io.Writer(self.folder / 'refused') as writer:
                writer.write({'it': value})
        self.assertFalse((self.folder / 'refused').exists())


class Values(Writing):
    def test_single_ones(self):
        for value, expected in (
                (3, ('int64List', [3])), (-1, ('int64List', [-1])), (True, ('int64List', [1])),
                (2**63 - 1, ('int64List', [2**63 - 1])), (-2**63, ('int64List', [-2**63])),
                (0.5, ('floatList', [np.float32(0.5).tobytes()])),
                ('Grüße', ('bytesList', ['Grüße'.encode()])), (b'\0\xff', ('bytesList', [b'\0\xff'])),
                (bytearray(b'ab'), ('bytesList', [b'ab'])), (memoryview(b'ab'), ('bytesList', [b'ab'])),
                (np.int16(-7), ('int64List', [-7])), (np.uint8(7), ('int64List', [7])),
                (np.bool_(True), ('int64List', [1])), (np.array(5), ('int64List', [5])),
                (np.float16(0.5), ('floatList', [np.float32(0.5).tobytes()])),
                (np.float32(0.25), ('floatList', [np.float32(0.25).tobytes()])),
                (np.float64(0.1), ('floatList', [np.float32(0.1).tobytes()])),
                (np.str_('a'), ('bytesList', [b'a'])), (np.bytes_(b'a'), ('bytesList', [b'a'])),
                ('', ('bytesList', [b''])), (b'', ('bytesList', [b'']))):
            self.assertEqual(self.value(value), expected, repr(value))

    def test_paths_are_the_contents_of_their_files(self):
        for name, content in ('a', b'\0one'), ('b', b''):
            (self.folder / name).write_bytes(content)
        self.assertEqual(self.value(self.folder / 'a'), ('bytesList', [b'\0one']))
        self.assertEqual(self.value([self.folder / 'a', self.folder / 'b']), ('bytesList', [b'\0one', b'']))
        self.assertEqual(self.value(str(self.folder / 'a')), ('bytesList', [os.fsencode(self.folder / 'a')]))

    def test_paths_that_cannot_be_read(self):
        for path, kind, said in ((self.folder / 'nowhere', recpack_io.NotFoundError, "'it': No such file .*nowhere"),
                                 (self.folder, recpack_io.IoError, "'it': Is a directory")):
            with self.subTest(said), self.assertRaisesRegex(kind, said):
                self.written({'it': path})
            self.assertFalse(self.shard.exists())

    def test_arrays_of_several_dimensions_keep_their_shape(self):
        values = {'boxes': np.arange(12, dtype=np.float32).reshape(3, 4), 'none': np.zeros((0, 4), np.float32),
                  'cube': np.arange(24).reshape(2, 3, 4), 'pixels': np.arange(24, dtype=np.uint8).reshape(2, 4, 3),
                  'planes': np.arange(24, dtype=np.uint8).reshape(2, 4, 3).transpose(2, 0, 1), 'turned': np.arange(6).reshape(2, 3).T, 'flat': np.arange(3)}
        self.written(values)
        record = recpack_io.open(self.shard)[0]
        for name, value in values.items():
            for got in record[name], record.to_dict()[name]:
                self.assertEqual(got.shape, value.shape, name)
                np.testing.assert_array_equal(got, value)
            self.assertFalse(record[name].flags.writeable)
        self.assertEqual(record['cube/shape'].tolist(), [2, 3, 4])
        self.assertNotIn('flat/shape', record)
        shapes = recpack_io.Function(lambda sample: {'it': sample['boxes'].T, 'none': sample['none'].shape},
                                     {'it': ('float32', (4, 3)), 'none': ('int64', 2)})
        for workers in 0, 1:
            batch = next(iter(recpack_io.Loader(recpack_io.open(self.shard), fields=[shapes], batch_size=1, workers=workers,
                                                multiprocessing_context='fork' if workers else None)))
            np.testing.assert_array_equal(batch['it'][0], values['boxes'].T)
            self.assertEqual(batch['none'].tolist(), [[0, 4]])

    def test_shapes_that_are_given(self):
        for values in np.arange(6), np.arange(6, dtype=np.uint8):
            self.written({'it': values.reshape(2, 3), 'it/shape': [3, 2]})
            record = recpack_io.open(self.shard)[0]
            self.assertEqual((record['it'].tolist(), record['it/shape'].tolist()), ([[0, 1], [2, 3], [4, 5]], [3, 2]))

    def test_shapes_of_others(self):
        """A feature of that name is a shape where it fits the values, as of an array of bytes."""
        for shape, expected in (([2, 3], (2, 3)), ([3, 3], (6,)), ([-2, -3], (6,)), ([6], (6,)), ([2**31, 2**31, 4], (6,)),
                                (np.float32([2, 3]), (6,))):
            self.written({'it': bytes(6), 'it/shape': shape, 'numbers': np.arange(6), 'numbers/shape': shape})
            record = recpack_io.open(self.shard)[0]
            self.assertEqual((record['it'].shape, record['numbers'].shape), (expected, expected), shape)

    def test_nan_and_infinity_stay(self):
        values = np.array([math.inf, -math.inf], np.float32)
        self.assertEqual(self.value(math.nan), ('floatList', [b'NaN']))
        self.written({'it': values, 'one': -math.inf})
        record = recpack_io.open(self.shard)[0]
        self.assertEqual(record['it'].tolist(), values.tolist())
        self.assertEqual(record['one'].tolist(), [-math.inf])

    def test_the_smallest_and_the_largest_floats(self):
        for value in 0.0, -0.0, 2**-149, -2**-126, 2**-127, 1.2e-38, 3.4028234e38:
            wanted = [np.float32(value).tobytes()]
            self.assertEqual(self.value(value), ('floatList', wanted), value)
            self.assertEqual(self.value(np.array([value])), ('floatList', wanted), value)

    def test_arrays_of_every_type(self):
        for kind in 'bool int8 int16 uint16 int32 uint32 int64 uint64'.split():
            self.assertEqual(self.value(np.array([1, 0, 1], kind)), ('int64List', [1, 0, 1]), kind)
            self.assertEqual(self.value(np.array([], kind)), ('int64List', []), kind)
        for kind in 'float16 float32 float64'.split():
            wanted = [np.float32(value).tobytes() for value in (1.5, -2)]
            self.assertEqual(self.value(np.array([1.5, -2], kind)), ('floatList', wanted), kind)
        self.assertEqual(self.value(array.array('h', [1, 2])), ('int64List', [1, 2]))

    def test_arrays_with_strides(self):
        self.assertEqual(self.value(np.arange(6)[::-2]), ('int64List', [5, 3, 1]))
        self.assertEqual(self.value(np.arange(6, dtype=np.float64)[1::4]),
                         ('floatList', [np.float32(value).tobytes() for value in (1, 5)]))

    def test_uint8_are_bytes_of_any_shape(self):
        image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        self.assertEqual(self.value(image), ('bytesList', [image.tobytes()]))
        turned = image.transpose(2, 0, 1)
        self.assertEqual(self.value(turned), ('bytesList', [turned.tobytes()]))
        self.assertEqual(self.value(np.array([], np.uint8)), ('bytesList', [b'']))

    def test_lists(self):
        floats = [np.float32(value).tobytes() for value in (0.5, 2)]
        for value, expected in (
                ([1, 2], ('int64List', [1, 2])), ((True, 5), ('int64List', [1, 5])),
                ([0.5, 2.0], ('floatList', floats)), ([np.float32(0.5), np.float64(2)], ('floatList', floats)),
                ([np.int8(1), 2], ('int64List', [1, 2])),
                (['a', b'b', bytearray(b'c'), np.array([100], np.uint8)],
                 ('bytesList', [b'a', b'b', b'c', b'd'])), ([], (None, []))):
            self.assertEqual(self.value(value), expected, repr(value))

    def test_what_converts_itself(self):
        class Tensor:
            def __array__(self, dtype=None, copy=None):
                return np.array([1, 2], dtype)
        self.assertEqual(self.value(Tensor()), ('int64List', [1, 2]))

    def test_temporaries_live_until_they_are_written(self):
        records = [{f'name {i}': [f'text {i} {j}' for j in range(5)], 'a': np.arange(i) * 2}
                   for i in range(200)]
        with recpack_io.Writer(self.shard) as writer:
            for record in records:
                writer.write({name: list(value) if isinstance(value, list) else value + 0
                              for name, value in record.items()})
        dataset = recpack_io.open(self.shard)
        for number, record in enumerate(dataset):
            self.assertEqual([text.tobytes().decode() for text in record[f'name {number}']],
                             records[number][f'name {number}'])
            self.assertEqual(record['a'].tolist(), records[number]['a'].tolist())

    def test_a_record_that_was_read(self):
        first = {'image': np.arange(9, dtype=np.uint8), 'label': np.array([3]),
                 'box': np.array([0.5], np.float32)}
        self.written(first)
        again = recpack_io.open(self.shard)[0].to_dict()
        self.assertEqual({name: (value.dtype, value.tolist()) for name, value in again.items()},
                         {name: (value.dtype, value.tolist()) for name, value in first.items()})
        kept = self.shard.read_bytes()
        self.written(again)
        self.assertEqual(self.shard.read_bytes(), kept)


class Refused(Writing):
    def test_values(self):
        for value, said in (
                (None, "'it' is of the type NoneType.*give int"), (object(), 'object'), ({}, 'dict'),
                (2**63, 'does not fit an int64'), (-2**63 - 1, 'does not fit an int64'),
                (1e39, 'does not fit a float32'), (np.array([1e300]), 'does not fit a float32'),
                (-1e300, '-1e[+]300, which does not fit a float32'), ([0.5, 1e300], 'fit a float32'),
                (1e-300, '1e-300, which does not fit a float32; scale it, or give 0'),
                (np.array([0.5, -1e-300]), 'fit a float32'), (np.float64(1e-300), 'fit a float32'),
                (1e-45, 'fit a float32'),  # would be 1.4e-45
                ([1, 2**64], 'does not fit an int64'), (np.uint64(2**63), 'does not fit an int64'),
                (np.array([2**70]), "type 'O'"), ([0.5, 2**70], 'does not fit an int64'),
                (np.array([2**63], np.uint64), 'does not fit an int64'),
                (1j, 'complex'),
                (np.array(['a']), 'type'), (np.array([None]), 'type'),
                (np.array([1], '>i4'), 'astype'), ([1, 'a'], 'mixes numbers'),
                ([1, 0.5], 'mixes integers with floats'), ([[1], [2]], 'list of lists'),
                ([np.array([1, 2])], 'list of arrays'), ([None], 'NoneType'),
                ('\ud800', 'UTF-8'), (['\ud800'], 'UTF-8')):
            self.refused(value, said)

    def test_names(self):
        for name, said in ((3, 'type int'), ('\ud800', 'UTF-8')):
            with recpack_io.Writer(self.shard) as writer:
                with self.assertRaisesRegex(recpack_io.InvalidArgumentError, said):
                    writer.write({name: 1})
        with recpack_io.Writer(self.shard) as writer:
            with self.assertRaises(TypeError):
                writer.write(3)

    def test_the_record_alone_is_left_out(self):
        with recpack_io.Writer(self.shard) as writer:
            writer.write({'a': 1})
            with self.assertRaises(recpack_io.InvalidArgumentError):
                writer.write({'a': 2, 'b': None})
            writer.write({'a': 3})
            self.assertEqual(len(writer), 2)
        self.assertEqual([record['a'].tolist() for record in recpack_io.open(self.shard)], [[1], [3]])

    def test_an_error_of_the_values_own(self):
        class Broken:
            def __array__(self, dtype=None, copy=None):
                raise RuntimeError('mine')
        with self.assertRaisesRegex(RuntimeError, 'mine'):
            self.written({'it': Broken()})

    def test_options_and_places(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'lz4'):
            recpack_io.Writer(self.shard, compression='lz4')
        with self.assertRaises(recpack_io.RecpackError):
            recpack_io.Writer(self.folder / 'nothing' / 'shard')
        self.assertEqual(os.listdir(self.folder), [])


class Files(Writing):
    def test_compressions_read_alike(self):
        records = [{'number': i, 'text': f'{i}' * i} for i in range(300)]
        for compression in COMPRESSIONS:
            self.written(*records, compression=compression)
            dataset = recpack_io.open(self.shard)
            self.assertEqual([record['number'].tolist() for record in dataset],
                             [[i] for i in range(300)], compression)
            recpack('verify', self.shard)

    def test_there_only_when_whole(self):
        with recpack_io.Writer(self.shard) as writer:
            writer.write({'a': 1})
            self.assertFalse(self.shard.exists())
        self.assertEqual(os.listdir(self.folder), [self.shard.name])

    def test_an_exception_leaves_what_was_there(self):
        self.written({'a': 1})
        before = self.shard.read_bytes()
        with self.assertRaises(KeyboardInterrupt):
            with recpack_io.Writer(self.shard) as writer:
                writer.write({'a': 2})
                raise KeyboardInterrupt
        self.assertEqual(os.listdir(self.folder), [self.shard.name])
        self.assertEqual(self.shard.read_bytes(), before)

    def test_one_that_is_dropped_leaves_nothing(self):
        writer = recpack_io.Writer(self.shard)
        writer.write({'a': 1})
        del writer
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_that_changes_its_folder(self):
        self.addCleanup(os.chdir, os.getcwd())
        (self.folder / 'other').mkdir()
        for end in 'close', 'discard':
            os.chdir(self.folder)
            writer = recpack_io.Writer('relative')
            writer.write({'a': 1})
            os.chdir('other')
            getattr(writer, end)()
            self.assertEqual(os.listdir('.'), [], end)
            self.assertEqual(sorted(os.listdir('..')),
                             ['other', 'relative'] if end == 'close' else ['other'])
            (self.folder / 'relative').unlink(missing_ok=True)

    def test_closed(self):
        writer = recpack_io.Writer(self.shard)
        writer.close()
        writer.close()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'closed'):
            writer.write({'a': 1})
        self.assertEqual(self.shard.read_bytes(), b'')

    def test_by_a_value_that_is_written(self):
        writer = recpack_io.Writer(self.shard)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'closed'):
            writer.write({'a': Calling(writer.close)})
        self.assertEqual(self.shard.read_bytes(), b'')

    def test_a_value_that_writes(self):
        with recpack_io.Writer(self.shard) as writer:
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'while another one is'):
                writer.write({'a': b'first', 'b': Calling(lambda: writer.write({'a': b'second'}))})
            writer.write({'a': b'third'})
        self.assertEqual([row['a'] for row in cat(self.shard)], [('bytesList', [b'third'])])


class Calling:
    """A value that calls something before it is known."""

    def __init__(self, call):
        self.call = call

    def __array__(self, dtype=None, copy=None):
        self.call()
        return np.array([1], dtype)


if __name__ == '__main__':
    main()
