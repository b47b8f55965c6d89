"""Data sets of pictures that others hold: packed as they are, and loaded."""
import numpy as np
import recpack_io
from PIL import Image
from support import InFolder, main
from torchvision.datasets import FakeData


class Pictures(InFolder):
    def packed(self, records):
        recpack_io.pack(records, self.folder / 'shards', sync=False, overwrite=True)
        return recpack_io.open(self.folder / 'shards')

    def test_a_data_set_of_torchvision(self):
        samples = FakeData(9, (3, 20, 30), 4)
        dataset = self.packed({'image': image, 'label': label} for image, label in samples)
        self.assertEqual(len(dataset), 9)
        for record, (image, label) in zip(dataset, samples):
            self.assertEqual(record['label'].tolist(), [label])
            np.testing.assert_array_equal(recpack_io.decode_image(record['image']), np.asarray(image))
        fields = [recpack_io.Image(crop='resize', height=20, width=30, type='u8', layout='nhwc')]
        loader = recpack_io.Loader(dataset, fields=fields, batch_size=9, order='sequential')
        batch, = loader
        np.testing.assert_array_equal(batch['image'], [np.asarray(image) for image, _ in samples])

    def test_its_samples_are_no_dictionaries(self):
        with self.assertRaisesRegex(TypeError, 'dictionary of features, not tuple: give {"image"'):
            self.packed(FakeData(2, (3, 8, 8)))
        with recpack_io.Writer(self.folder / 'shard') as writer:
            with self.assertRaisesRegex(TypeError, 'not list'):
                writer.write([1])
            writer.write({'a': 1})

    def test_colours(self):
        image = FakeData(1, (3, 8, 10))[0][0]
        for mode in 'L', 'RGBA', 'P', '1':
            record, = self.packed([{'image': image.convert(mode)}])
            expected = np.asarray(image.convert(mode).convert('RGB'))
            np.testing.assert_array_equal(recpack_io.decode_image(record['image']), expected)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "feature 'image': .*CMYK.*convert"):
            self.packed([{'image': image.convert('CMYK')}])

    def test_several_in_a_feature(self):
        images = [Image.new('RGB', (4, 5), (number, 2, 3)) for number in range(3)]
        record, = self.packed([{'views': images}])
        self.assertEqual([recpack_io.decode_image(view)[0, 0].tolist() for view in record['views']],
                         [[0, 2, 3], [1, 2, 3], [2, 2, 3]])

    def test_a_file_that_is_no_picture(self):
        (self.folder / 'cut.png').write_bytes(b'\x89PNG\r\n\x1a\n')
        with self.assertRaises(OSError):
            self.packed({'image': Image.open(self.folder / name)} for name in ['cut.png'])
        self.assertEqual(list((self.folder / 'shards').glob('*.tfrecord')), [])


if __name__ == '__main__':
    main()
