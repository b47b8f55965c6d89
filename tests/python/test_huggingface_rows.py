"""recpack_io.pack() of data sets of Hugging Face: files, classes, splits, nested columns."""
import io
import os

os.environ |= {'HF_HUB_OFFLINE': '1', 'HF_DATASETS_DISABLE_PROGRESS_BARS': '1'}
import datasets  # noqa: E402
import numpy as np  # noqa: E402
import recpack_io  # noqa: E402
from datasets import ClassLabel, Features, Image, Value  # noqa: E402
from support import GOLDEN, InFolder, main  # noqa: E402

PHOTOS = [GOLDEN / 'image' / name for name in ('real_420.jpg', 'rgb.png', 'gray.png', 'exif6.png')]
FEATURES = Features({'img': Image(), 'kind': ClassLabel(names=['ant', 'bee']), 'text': Value('string')})


def photos(count=8, begin=0):
    """Half of the images by their paths, the others by their bytes."""
    rows = []
    for i in range(begin, begin + count):
        path = PHOTOS[i % 4]
        image = {'path': str(path), 'bytes': None if i % 2 else path.read_bytes()}
        rows.append({'img': image, 'kind': i % 2, 'text': f'row {i}'})
    return rows


class Rows(InFolder):
    def setUp(self):
        super().setUp()
        cache = datasets.config.HF_DATASETS_CACHE
        datasets.config.HF_DATASETS_CACHE = self.folder / 'cache'
        self.addCleanup(setattr, datasets.config, 'HF_DATASETS_CACHE', cache)
        self.train = datasets.Dataset.from_list(photos(), FEATURES, split='train')

    def assert_photos(self, dataset, begin=0, count=8):
        self.assertEqual(len(dataset), count)
        self.assertEqual(dataset.class_names, ['ant', 'bee'])
        for i, record in enumerate(dataset, begin):
            self.assertEqual(bytes(record['image']), PHOTOS[i % 4].read_bytes())
            self.assertEqual(record['label'].tolist(), [i % 2])
            self.assertEqual(bytes(record['text']), f'row {i}'.encode())

    def test_splits_files_and_classes(self):
        parts = {'train': self.train, 'test': datasets.Dataset.from_list(photos(4, 8), FEATURES)}
        done = []
        result = recpack_io.pack(datasets.DatasetDict(parts), self.folder / 'out', progress=lambda *at: done.append(at))
        self.assertEqual((result.records, done[-1]), (12, (12, 12)))
        self.assertEqual(result.notices, ["the column 'img' is the feature 'image'", "the column 'kind' is the feature 'label'"])
        self.assert_photos(recpack_io.open(self.folder / 'out'))
        self.assert_photos(recpack_io.open(self.folder / 'out', split='test'), 8, 4)
        batch = next(iter(recpack_io.Loader(recpack_io.open(self.folder / 'out'), 'imagenet-train', batch_size=4)))
        self.assertEqual(batch['image'].shape, (4, 3, 224, 224))

    def test_the_split_is_the_data_sets(self):
        test = datasets.Dataset.from_list(photos(4), FEATURES, split='test')
        recpack_io.pack(test, self.folder / 'own')
        self.assertEqual(recpack_io.open(self.folder / 'own').splits, {'test': 4})
        recpack_io.pack(test, self.folder / 'given', split='validation')
        self.assertEqual(recpack_io.open(self.folder / 'given').splits, {'validation': 4})
        recpack_io.pack(test, self.folder / 'names', class_names=['a', 'b'])
        self.assertEqual(recpack_io.open(self.folder / 'names').class_names, ['a', 'b'])

    def test_streamed_ones(self):
        recpack_io.pack(self.train.to_iterable_dataset(num_shards=2), self.folder / 'out')
        self.assert_photos(recpack_io.open(self.folder / 'out'))

    def test_any_format_and_decoded_columns_stay_as_they_are(self):
        given = self.train.with_format('numpy')
        recpack_io.pack(given, self.folder / 'out')
        self.assert_photos(recpack_io.open(self.folder / 'out'))
        self.assertEqual(given[0]['img'].ndim, 3)

    def test_names_that_are_taken_and_several_images(self):
        features = Features({'left': Image(), 'right': Image(), 'label': Value('string'), 'kind': ClassLabel(names=['x'])})
        rows = [{'left': each['img'], 'right': each['img'], 'label': 'text', 'kind': 0} for each in photos(2)]
        result = recpack_io.pack(datasets.Dataset.from_list(rows, features), self.folder / 'out')
        record = recpack_io.open(self.folder / 'out')[0]
        self.assertEqual((result.notices, record.keys()), ([], ['kind', 'label', 'left', 'right']))
        self.assertEqual(bytes(record['label']), b'text')

    def test_nested_columns(self):
        box = {'bbox': datasets.List(datasets.List(Value('float32'), length=4)), 'category': datasets.List(Value('int64'))}
        features = Features({'objects': box, 'pages': datasets.List(Image()), 'grid': datasets.Array2D((2, 3), 'int32'),
                             'parts': datasets.List({'name': Value('string'), 'size': Value('int64')}),
                             'when': Value('timestamp[s]'), 'nothing': Value('int64'), 'flags': datasets.List(Value('bool'))})
        row = {'objects': {'bbox': [[1, 2, 3, 4], [5, 6, 7, 8]], 'category': [3, 4]}, 'pages': [photos(1)[0]['img']] * 2,
               'grid': [[1, 2, 3], [4, 5, 6]], 'parts': [{'name': 'a', 'size': 1}, {'name': 'b', 'size': 2}],
               'when': np.datetime64('2026-01-02T03:04:05').item(), 'nothing': None, 'flags': [True, False]}
        recpack_io.pack(datasets.Dataset.from_list([row], features), self.folder / 'out')
        record = recpack_io.open(self.folder / 'out')[0]
        np.testing.assert_array_equal(record['objects/bbox'], [[1, 2, 3, 4], [5, 6, 7, 8]])
        np.testing.assert_array_equal(record['grid'], [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(record['objects/category'].tolist(), [3, 4])
        self.assertEqual([bytes(page) for page in record['pages']], [PHOTOS[0].read_bytes()] * 2)
        self.assertEqual([bytes(name) for name in record['parts/name']], [b'a', b'b'])
        self.assertEqual((record['parts/size'].tolist(), record['flags'].tolist()), ([1, 2], [1, 0]))
        self.assertEqual(bytes(record['when']), b'2026-01-02T03:04:05')
        self.assertNotIn('nothing', record)

    def test_lists_of_different_lengths(self):
        given = datasets.Dataset.from_list([{'rows': [[1], [2, 3]]}])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "'rows' is lists of different lengths"):
            recpack_io.pack(given, self.folder / 'out')
        self.assertFalse(list((self.folder / 'out').glob('*.tfrecord')))

    def test_sound_as_it_is_stored(self):
        import wave
        file = io.BytesIO()
        with wave.open(file, 'wb') as sound:
            sound.setparams((1, 2, 8000, 0, 'NONE', ''))
            sound.writeframes(bytes(200))
        rows = [{'audio': {'path': None, 'bytes': file.getvalue()}}]
        stored = Features({'audio': {'path': Value('string'), 'bytes': Value('binary')}})
        given = datasets.Dataset.from_list(rows, stored).cast_column('audio', datasets.Audio())
        recpack_io.pack(given, self.folder / 'out')
        self.assertEqual(bytes(recpack_io.open(self.folder / 'out')[0]['audio']), file.getvalue())


if __name__ == '__main__':
    main()
