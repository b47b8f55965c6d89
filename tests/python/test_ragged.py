"""Ragged arrays with offsets: of fields and of functions, in each framework's batches."""
import numpy as np
import recpack_io
from recpack_io import BatchFunction, Bytes, Function, Loader, Numbers, Ragged
from support import InFolder, main

try:
    import torch
except ImportError:
    torch = None

RECORDS = 61


def boxes(sample):
    count = sample.id % 4
    return {'boxes': np.full((count, 4), sample.id, np.float32), 'area': count / 2}


BOXES = {'boxes': ('float32', (Ragged(3), 4)), 'area': 'float32'}
FIELDS = [Numbers('tokens', length=9, ragged=True, offsets=True), Bytes('text', shape=[6], ragged=True, offsets=True),
          Function(boxes, BOXES)]


class RaggedArrays(InFolder):
    def setUp(self):
        super().setUp()
        with recpack_io.Writer(self.folder / 'data') as writer:
            for i in range(RECORDS):
                writer.write({'tokens': np.arange(i % 10), 'text': b'abcdef'[:i % 7], 'label': i})
        self.data = recpack_io.open(self.folder / 'data')

    def expect(self, batch):
        for i, number in enumerate(map(int, batch.ids)):
            begin, end = map(int, batch['tokens_offsets'][i:i + 2])
            self.assertEqual(np.asarray(batch['tokens'][begin:end]).tolist(), list(range(number % 10)))
            begin, end = map(int, batch['text_offsets'][i:i + 2])
            self.assertEqual(bytes(bytearray(np.asarray(batch['text'][begin:end]))), b'abcdef'[:number % 7])
            begin, end = map(int, batch['boxes_offsets'][i:i + 2])
            self.assertEqual(np.asarray(batch['boxes'][begin:end]).tolist(), [[number] * 4] * (number % 4))
            self.assertEqual(float(batch['area'][i]), number % 4 / 2)
        self.assertEqual(len(batch['boxes']), sum(number % 4 for number in map(int, batch.ids)))
        self.assertEqual(len(batch['tokens_offsets']), len(batch.ids) + 1)

    def test_on_threads_and_in_processes(self):
        for workers in 0, 2:
            loader = Loader(self.data, fields=FIELDS, batch_size=8, last_batch='keep', workers=workers,
                            multiprocessing_context='fork')
            sizes = []
            for batch in loader:
                self.expect(batch)
                sizes.append(len(batch))
            self.assertEqual(sizes, [8] * 7 + [5])
            self.assertEqual(loader.arrays['boxes'], ('f32', (None, 4)))
            self.assertEqual(loader.arrays['tokens'], ('i64', (None,)))
            loader.close()

    def test_batch_functions_are_given_them(self):
        def count(batch):
            return {'count': np.diff(batch['boxes_offsets']) + 0 * len(batch['boxes'])}
        for workers in 0, 1:
            with Loader(self.data, fields=FIELDS, batch_size=8, workers=workers, multiprocessing_context='fork',
                        batch_functions=[BatchFunction(count, {'count': 'int64'})]) as loader:
                for batch in loader:
                    self.expect(batch)
                    self.assertEqual(batch['count'].tolist(), [number % 4 for number in map(int, batch.ids)])

    def test_the_same_with_any_number_of_threads(self):
        seen = []
        for threads in 1, 4:
            with Loader(self.data, fields=FIELDS, batch_size=8, threads=threads) as loader:
                seen.append([(batch['boxes'].tobytes(), batch['tokens'].tobytes()) for batch in loader])
        self.assertEqual(*seen)

    def test_padded_still(self):
        with Loader(self.data, fields=[Numbers('tokens', length=9, ragged=True, padding=-1)], batch_size=8) as loader:
            batch = next(iter(loader))
        self.assertEqual(batch['tokens'].shape, (8, 9))
        self.assertEqual(batch['tokens_length'].tolist(), [number % 10 for number in map(int, batch.ids)])

    def test_what_is_refused(self):
        def loader(function):
            with Loader(self.data, fields=[function], batch_size=8) as loader:
                return list(loader)
        for call, arrays, error, said in (
                (boxes, {'boxes': ('float32', (Ragged(2), 4)), 'area': 'float32'}, ValueError, 'with 3 rows, declared are 2 at most'),
                (boxes, {'boxes': ('float32', (Ragged(3), 5)), 'area': 'float32'}, ValueError, 'declared is .rows, 5'),
                (boxes, {'boxes': ('float32', Ragged(3)), 'area': 'float32'}, ValueError, 'declared is .rows'),
                (boxes, {'boxes': ('float32', (3, Ragged(4))), 'area': 'float32'}, TypeError, 'only its first dimension')):
            with self.assertRaisesRegex(error, said):
                loader(Function(call, arrays))
        with self.assertRaisesRegex(ValueError, 'at least one row'):
            Ragged(0)
        with self.assertRaisesRegex(TypeError, 'a batch function cannot add ragged arrays'):
            BatchFunction(boxes, BOXES)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'has offsets and is not ragged'):
            Loader(self.data, fields=[Numbers('tokens', length=9, offsets=True)], batch_size=8)

    if torch is not None:
        def test_tensors(self):
            from recpack_io.torch import Loader
            with Loader(self.data, fields=FIELDS, batch_size=8, last_batch='keep') as loader:
                for batch in loader:
                    self.assertEqual(batch['tokens_offsets'].dtype, torch.int64)
                    self.expect(batch)
                nested = torch.nested.nested_tensor_from_jagged(batch['tokens'], batch['tokens_offsets'])
                self.assertEqual([each.tolist() for each in nested.unbind()],
                                 [list(range(number % 10)) for number in batch.ids.tolist()])


if __name__ == '__main__':
    main()
