"""Pixels of each format, field option and way of resizing are Pillow's; no cell is left out: what is
not supported has to be an error."""
import io
import itertools

import numpy as np
import recpack_io
from formats import FILTERS, FORMATS, FROM, TURNED, colours, file_of, turned
from PIL import Image, ImageOps
from recpack_io.errors import UnsupportedError
from support import InFolder, main

SIZES = {'smaller': (16, 11), 'larger': (61, 50), 'same': FROM, 'mixed': (16, 50)}


def reference(data, channels, interpolation, size):
    """What Pillow makes of it, (height, width, channels)."""
    image = colours(data, channels)
    resized = image.resize(size, FILTERS[interpolation]) if size != image.size else image
    return np.asarray(resized).reshape(size[1], size[0], channels)


class Pixels(InFolder):
    def packed(self, number):
        """A data set of one record of the format, and the file that it holds."""
        file = file_of(list(FORMATS)[number])
        folder = self.folder / str(number)
        with recpack_io.Writer(folder) as writer:
            writer.write({'image/encoded': file, 'label': number})
        return recpack_io.open(folder), file

    def test_every_format_and_option(self):
        cells = 0
        for number, name in enumerate(FORMATS):
            dataset, file = self.packed(number)
            for channels, interpolation, (_, size), layout, flip in itertools.product(
                    (3, 1), FILTERS, SIZES.items(), ('nhwc', 'nchw'), (0.0, 1.0)):
                crop = 'none' if size == FROM else 'resize'
                with self.subTest(format=name, channels=channels, interpolation=interpolation,
                                  size=size, layout=layout, flip=flip):
                    field = recpack_io.Image('image', crop=crop, width=size[0], height=size[1],
                                             interpolation=interpolation, channels=channels,
                                             type='u8', layout=layout, flip=flip)
                    one = recpack_io.Loader(dataset, fields=[
                        field, recpack_io.Numbers('label')], batch_size=1, order='sequential')
                    cells += 1
                    if name.endswith('16 bit') and channels == 1:
                        with self.assertRaises(UnsupportedError):
                            next(iter(one))
                        continue
                    batch = next(iter(one))
                    self.assertEqual(batch['label'].tolist(), [number])
                    got = batch['image'][0]
                    got = got if layout == 'nhwc' else got.transpose(1, 2, 0)
                    got = got[:, ::-1] if flip else got
                    want = reference(file, channels, interpolation, size)
                    most = 0 if interpolation == 'nearest' or size == FROM else 1
                    if name == 'jpeg cmyk':
                        most += 1
                    wrong = np.abs(got.astype(int) - want.astype(int)).max()
                    self.assertLessEqual(wrong, most)
        self.assertEqual(cells, len(FORMATS) * 2 * len(FILTERS) * len(SIZES) * 2 * 2)

    def test_orientation(self):
        """As EXIF says, where it is asked for; as stored, where not."""
        for name, orientation in itertools.product(TURNED, range(1, 9)):
            file = turned(name, orientation)
            folder = self.folder / f'{name} {orientation}'
            with recpack_io.Writer(folder) as writer:
                writer.write({'image/encoded': file})
            dataset, image = recpack_io.open(folder), Image.open(io.BytesIO(file))
            self.assertEqual(image.getexif()[0x0112], orientation)
            for apply, channels, interpolation in itertools.product((True, False), (3, 1), ('bilinear', 'nearest')):
                with self.subTest(format=name, orientation=orientation, apply=apply, channels=channels,
                                  interpolation=interpolation):
                    field = recpack_io.Image('image', crop='resize', width=16, height=11, interpolation=interpolation,
                                             channels=channels, type='u8', layout='nhwc', apply_orientation=apply)
                    got = next(iter(recpack_io.Loader(dataset, fields=[field], batch_size=1)))['image'][0]
                    whole = colours(turned(name, 1), channels)  # Pillow turns TIFFs by itself
                    if apply:
                        whole.getexif()[0x0112] = orientation
                        whole = ImageOps.exif_transpose(whole)
                    want = np.asarray(whole.resize((16, 11), FILTERS[interpolation])).reshape(got.shape)
                    wrong = np.abs(got.astype(int) - want.astype(int)).max()
                    self.assertLessEqual(wrong, int(interpolation != 'nearest'))

    def test_depth_of_sixteen_bits(self):
        """As it is stored, cropped and flipped as the picture beside it."""
        chance = np.random.default_rng(4)
        depth = [chance.integers(0, 65536, (40, 50)).astype(np.uint16) for _ in range(8)]
        with recpack_io.Writer(self.folder / 'depth') as writer:
            for number, each in enumerate(depth):
                files = []
                for image, kind in (Image.fromarray(each), ('PNG', 'TIFF')[number % 2]), (Image.fromarray((each & 255).astype(np.uint8)), 'PNG'):
                    file = io.BytesIO()
                    image.save(file, kind)
                    files.append(file.getvalue())
                writer.write({'depth': files[0], 'low': files[1]})
        dataset = recpack_io.open(self.folder / 'depth')
        shape = {'height': 40, 'width': 50, 'channels': 1, 'interpolation': 'nearest'}
        whole = recpack_io.Image('depth', feature='depth', bits=16, type='i32', **shape)
        for batch in recpack_io.Loader(dataset, fields=[whole], batch_size=8, order='sequential'):
            self.assertEqual(batch['depth'].dtype, np.int32)
            np.testing.assert_array_equal(batch['depth'][:, 0], np.stack(depth))
        drawn = {**shape, 'height': 24, 'width': 20, 'crop': 'random-resized', 'flip': 0.5, 'view': 1}
        fields = [recpack_io.Image('depth', feature='depth', bits=16, type='i32', layout='nhwc', **drawn),
                  recpack_io.Image('far', feature='depth', bits=16, type='f32', mean=[0.5] * 3, std=[0.25] * 3, **drawn),
                  recpack_io.Image('low', feature='low', type='u8', **drawn)]
        for batch in recpack_io.Loader(dataset, fields=fields, batch_size=4, seed=5):
            values = batch['depth']
            self.assertEqual(values.shape, (4, 24, 20, 1))
            np.testing.assert_array_equal(values[..., 0] & 255, batch['low'][:, 0])
            np.testing.assert_allclose(batch['far'][:, 0], (values[..., 0] / 65535 - 0.5) / 0.25, rtol=1e-6)

    def test_bits_that_do_not_fit(self):
        with recpack_io.Writer(self.folder / 'gray') as writer:
            writer.write({'image/encoded': file_of('png gray')})
        dataset = recpack_io.open(self.folder / 'gray')
        good = {'bits': 16, 'channels': 1, 'interpolation': 'nearest', 'type': 'i32', 'height': FROM[1], 'width': FROM[0]}
        for wrong, saying in (({'channels': 3}, 'more than one channel'), ({'interpolation': 'bilinear'}, 'by nearest only'),
                              ({'type': 'u8'}, 'choose i32 or f32'), ({'bits': 12}, 'give 8 or 16'), ({'bits': 8}, 'that is for bits = 16'),
                              ({'policy': 'randaugment'}, 'by nearest only'), ({'erasing': 0.5}, 'by nearest only')):
            with self.subTest(wrong), self.assertRaisesRegex(recpack_io.InvalidArgumentError, saying):
                recpack_io.Loader(dataset, fields=[recpack_io.Image(**{**good, **wrong})], batch_size=1)
        with self.assertRaisesRegex(UnsupportedError, 'not gray of 16 bits'):
            next(iter(recpack_io.Loader(dataset, fields=[recpack_io.Image(**good)], batch_size=1)))
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'takes images of 8 bits'):
            recpack_io.Image(**good, then=lambda image: image)

    def test_a_picture_and_its_mask_are_cropped_alike(self):
        chance = np.random.default_rng(3)
        with recpack_io.Writer(self.folder / 'masks') as writer:
            for _ in range(20):
                classes = chance.choice([0, 20, 255], (40, 50)).astype(np.uint8)
                mask = Image.fromarray(classes, 'P')
                mask.putpalette(chance.integers(0, 256, 768).astype(np.uint8).tobytes())
                files = []
                for image in Image.fromarray(np.stack([classes] * 3, -1)), mask:
                    file = io.BytesIO()
                    image.save(file, 'PNG')
                    files.append(file.getvalue())
                writer.write({'image/encoded': files[0], 'mask/encoded': files[1]})
        options = {'crop': 'random-resized', 'flip': 0.5, 'view': 1, 'height': 24, 'width': 24,
                   'interpolation': 'nearest', 'type': 'u8'}
        fields = [recpack_io.Image('image', feature='image/encoded', **options),
                  recpack_io.Image('mask', feature='mask/encoded', channels=1, **options)]
        for batch in recpack_io.Loader(recpack_io.open(self.folder / 'masks'), fields=fields,
                                       batch_size=5, seed=2):
            self.assertEqual(batch['mask'].shape, (5, 1, 24, 24))
            self.assertLessEqual(set(np.unique(batch['mask'])), {0, 20, 255})
            for channel in range(3):
                np.testing.assert_array_equal(batch['image'][:, channel], batch['mask'][:, 0])

    def test_arrays_of_any_size_are_as_their_png_files(self):
        """Arrays are found by the shapes that the records hold."""
        chance = np.random.default_rng(5)
        for channels in (), (1,), (3,), (4,):
            with recpack_io.Writer(self.folder / 'data') as writer:
                for _ in range(8):
                    pixels = chance.integers(0, 256, (*chance.integers(20, 60, 2), *channels), np.uint8)
                    writer.write({'array': pixels, 'png': Image.fromarray(pixels[:, :, 0] if channels == (1,) else pixels)})
            dataset = recpack_io.open(self.folder / 'data')
            for options in ({'crop': 'resize'}, {'crop': 'random-resized', 'policy': 'trivialaugment'}, {'crop': 'resize-centre', 'resize': 22},
                            {'crop': 'random-resized', 'channels': 1, 'interpolation': 'nearest'}):
                both = [recpack_io.Image(name, feature=name, height=16, width=18, flip=0.5, view=1, type='u8', **options)
                        for name in ('array', 'png')]
                for batch in recpack_io.Loader(dataset, fields=both, batch_size=4):
                    np.testing.assert_array_equal(batch['array'], batch['png'], f'{channels} {options}')


if __name__ == '__main__':
    main()
