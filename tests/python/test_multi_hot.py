"""Multi-hot fields: the classes that a record lists as indices, as names, or as names between separators."""
import pickle

import numpy as np
import recpack_io
from recpack_io import Loader, MultiHot
from recpack_io.errors import InvalidArgumentError
from support import InFolder, main

CLASSES = ['cat', 'dog', 'outdoors']
ROWS = [(), (0,), (2, 1), (0, 1, 2), (1, 1)]
RECORDS = 60


class MultiHotFields(InFolder):
    def setUp(self):
        super().setUp()
        with recpack_io.Writer(self.folder / 'data') as writer:
            for i in range(RECORDS):
                row = ROWS[i % 5]
                names = [CLASSES[each] for each in row]
                writer.write({'numbers': np.array(row, 'i8'), 'names': [name.encode() for name in names],
                              'text': ' | '.join(names), 'score': 0.5})
        self.data = recpack_io.open(self.folder / 'data')

    def loader(self, *fields, **options):
        return Loader(self.data, fields=fields, batch_size=7, **options)

    def test_records_without_the_feature(self):
        (batch,) = self.loader(MultiHot('other', CLASSES, missing_ok=True), last_batch='keep', order='sequential',
                               subset=range(5))
        np.testing.assert_array_equal(batch['other'], np.zeros((5, 3)))
        with self.assertRaisesRegex(InvalidArgumentError, "no feature 'other'"):
            list(self.loader(MultiHot('other', CLASSES)))

    def test_all_ways_to_list_them(self):
        fields = (MultiHot('numbers', 3), MultiHot('named', CLASSES, feature='numbers'), MultiHot('names', CLASSES),
                  MultiHot('text', CLASSES, separator='|', type='u8'))
        loader = self.loader(*fields, seed=3)
        self.assertEqual(loader.arrays['text'], ('u8', (3,)))
        for batch in loader:
            expected = np.zeros((len(batch), 3), 'f4')
            for i, number in enumerate(map(int, batch.ids)):
                expected[i, list(ROWS[number % 5])] = 1
            for name, kind in ('numbers', 'f4'), ('named', 'f4'), ('names', 'f4'), ('text', 'u1'):
                self.assertEqual(batch[name].dtype, kind)
                np.testing.assert_array_equal(batch[name], expected)

    def test_the_same_by_any_number_of_threads(self):
        one, three = (self.loader(MultiHot('text', CLASSES, separator='|'), seed=5, threads=threads) for threads in (1, 3))
        for first, second in zip(one, three):
            np.testing.assert_array_equal(first['text'], second['text'])

    def test_classes_of_any_list(self):
        for classes in tuple(CLASSES), np.array(CLASSES), dict.fromkeys(CLASSES), (each for each in CLASSES):
            self.assertEqual(MultiHot('names', classes).classes, CLASSES)
        self.assertEqual(MultiHot('numbers', np.int64(3)).classes, 3)

    def test_pickled(self):
        for field in MultiHot('a', CLASSES, separator='|', ignore_unknown=True, type='u8'), MultiHot('a', 4, feature='b'):
            again = pickle.loads(pickle.dumps(field))
            for name in 'name', 'classes', 'feature', 'separator', 'ignore_unknown', 'type':
                self.assertEqual(getattr(again, name), getattr(field, name))

    def test_what_is_no_class(self):
        for field, words in ((MultiHot('numbers', 2), 'lists class 2, .* 0 to 1'),
                             (MultiHot('names', CLASSES[:2]), "lists 'outdoors', not among the classes.*: cat, dog"),
                             (MultiHot('text', CLASSES), "'outdoors | dog'.*separates"),
                             (MultiHot('text', 3), 'holds names'), (MultiHot('score', 3), 'is float')):
            with self.assertRaisesRegex(InvalidArgumentError, words):
                list(self.loader(field, order='sequential'))
        ignoring = self.loader(MultiHot('names', CLASSES[:2], ignore_unknown=True), order='sequential')
        np.testing.assert_array_equal(next(iter(ignoring))['names'][:4], [[0, 0], [1, 0], [0, 1], [1, 1]])

    def test_faults_of_the_field(self):
        for field, words in ((MultiHot('a', []), 'no classes'), (MultiHot('a', 0), 'no classes'),
                             (MultiHot('a', ['x', '']), 'empty name'), (MultiHot('a', ['x', 'x']), 'as is class 0'),
                             (MultiHot('a', ['x|y'], separator='|'), 'contains the separator')):
            with self.assertRaisesRegex(InvalidArgumentError, words):
                self.loader(field)
        for classes in 'cat', 1.5, None, [3], -1, {3: 'cat'}:
            with self.assertRaisesRegex(TypeError, r'MultiHot\(\): classes cannot be'):
                MultiHot('a', classes)


if __name__ == '__main__':
    main()
