"""Transforms of torchvision as functions: its own results, with torch's draws keyed by sample."""
import io

import numpy as np
import PIL.Image
import PIL.ImageOps
import recpack_io
import torch
from calls import Calls
from recpack_io import BatchFunction, Function, Image
from recpack_io.torch import Loader
from support import GOLDEN, InFolder, main
from torchvision import transforms as v1
from torchvision.transforms import v2

MEAN, STD = (0.49, 0.48, 0.45), (0.2, 0.21, 0.22)
OLD = v1.Compose([v1.RandomCrop(32, padding=4), v1.RandomHorizontalFlip(),
                  v1.ColorJitter(0.4, 0.4, 0.4, 0.1), v1.RandomRotation(15), v1.RandAugment(),
                  v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomErasing(0.5, value='random')])
NEW = v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), v2.TrivialAugmentWide(),
                  v2.RandomChoice([v2.ColorJitter(0.4), v2.GaussianBlur(3)]), v2.PILToTensor(),
                  v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD),
                  v2.GaussianNoise(), v2.RandomErasing(0.5, value='random')])
RAW = {'raw_shape': [3, 32, 32], 'height': 32, 'width': 32}


def seed(sample):
    return {'seed': sample.seed}


def own(transform):
    """The transform, and what it was seeded with."""
    return [Image('mine', then=transform, stream=7, **RAW),
            Function(seed, {'seed': 'int64'}, stream=7)]


class Transforms(Calls):
    def expected(self, transform, number, seed):
        pixels = self.dataset[int(number)]['image'].reshape(3, 32, 32).transpose(1, 2, 0)
        torch.manual_seed(seed)
        return transform(PIL.Image.fromarray(np.ascontiguousarray(pixels)))

    def test_equal_those_of_torchvision_by_seed(self):
        for transform in OLD, NEW:
            for workers in 0, 2:
                for batch in self.loader(*own(transform), workers=workers):
                    rows = zip(batch['mine'], batch.ids, batch['seed'].tolist())
                    for mine, number, drawn in rows:
                        theirs = self.expected(transform, number, drawn)
                        self.assertTrue(torch.equal(torch.from_numpy(mine), theirs))

    def test_the_same_bits_on_any_thread_and_process(self):
        def batches(**options):
            return [batch['mine'].tobytes() for batch in self.loader(*own(NEW), **options)]
        expected = batches(threads=1)
        self.assertEqual(batches(threads=4), expected)
        self.assertEqual(batches(workers=2, multiprocessing_context='spawn'), expected)
        self.assertEqual(len(set(expected)), len(expected))

    def test_torchs_own_generator_is_left_alone(self):
        torch.manual_seed(5)
        expected = torch.rand(1000)
        torch.manual_seed(5)
        drawn = []
        loader = self.loader(*own(OLD), threads=3)
        for _ in loader:
            drawn += [torch.rand(1) for _ in range(5)]
        loader.close()
        self.assertTrue(torch.equal(torch.cat(drawn), expected[:len(drawn)]))

    def test_on_tensors(self):
        flip = v2.Compose([v2.RandomHorizontalFlip(1), v2.Identity()])
        fields = [Image('mine', then=flip, given='torch', type='u8', **RAW),
                  Image('image', type='u8', **RAW)]
        for batch in Loader(self.dataset, fields=fields, batch_size=8):
            self.assertTrue(torch.equal(batch['mine'], batch['image'].flip(3)))

    def test_results_of_another_size(self):
        centre = v2.Compose([v2.CenterCrop(20)])
        field = Image('mine', then=centre, result=('uint8', (20, 20, 3)), **RAW)
        self.assertEqual(next(iter(self.loader(field)))['mine'].shape, (8, 20, 20, 3))
        with self.assertRaisesRegex(ValueError, r'shape \(20, 20, 3\), declared is \(3, 32, 32\)'):
            next(iter(self.loader(Image('mine', then=centre, **RAW))))

    def test_a_tensor_that_numpy_has_not(self):
        half = v2.Compose([v2.PILToTensor(), v2.ToDtype(torch.bfloat16)])
        with self.assertRaisesRegex(TypeError, 'BFloat16'):
            next(iter(self.loader(Image('mine', then=half, **RAW))))

    def test_mixup_of_batches(self):
        def mix(batch):
            image, target = v2.MixUp(num_classes=10)(torch.from_numpy(batch['image']),
                                                     torch.from_numpy(batch['label']))
            batch['image'][...] = image
            return {'target': target, 'seed': np.full(len(batch.ids), batch.seed)}
        function = BatchFunction(mix, {'target': ('float32', 10), 'seed': 'int64'})
        for batch, plain in zip(self.loader(batch_functions=[function]), self.loader()):
            torch.manual_seed(batch['seed'][0])
            image, target = v2.MixUp(num_classes=10)(torch.from_numpy(plain['image'].copy()),
                                                     torch.from_numpy(plain['label'].copy()))
            np.testing.assert_array_equal(batch['image'], image)
            np.testing.assert_array_equal(batch['target'], target)


class WholePictures(InFolder):
    """Encoded, of any size, as ImageFolder gives them to a transform."""

    PATHS = sorted((GOLDEN / 'image').glob('orientation*.jpg'))
    TRANSFORM = v2.Compose([v2.RandomResizedCrop(24), v2.RandomHorizontalFlip(), v2.PILToTensor(),
                            v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])

    def loader(self, data, *fields, **options):
        recpack_io.pack(({'image': each, 'number': number} for number, each in enumerate(data)),
                        self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')
        return recpack_io.Loader(self.dataset, fields=[recpack_io.Numbers('number'), *fields],
                                 batch_size=len(data), **options)

    def test_equal_those_of_pillow_and_torchvision(self):
        field = Image('mine', then=self.TRANSFORM, height=24, width=24, stream=7)
        for workers in 0, 1:
            batch = next(iter(self.loader([path.read_bytes() for path in self.PATHS], field,
                                          Function(seed, {'seed': 'int64'}, stream=7),
                                          workers=workers)))
            for mine, number, drawn in zip(batch['mine'], batch['number'], batch['seed'].tolist()):
                torch.manual_seed(drawn)
                theirs = self.TRANSFORM(PIL.Image.open(self.PATHS[number]).convert('RGB'))
                self.assertTrue(torch.equal(torch.from_numpy(mine), theirs))
            self.folder = self.folder / 'again'

    def test_are_turned_where_that_is_asked_for(self):
        def corner(image):
            return image[:4, :4]
        field = Image('mine', then=corner, apply_orientation=True,
                      result=('uint8', (4, 4, 3)))
        batch = next(iter(self.loader([path.read_bytes() for path in self.PATHS], field)))
        for mine, number in zip(batch['mine'], batch['number']):
            theirs = PIL.ImageOps.exif_transpose(PIL.Image.open(self.PATHS[number]))
            np.testing.assert_array_equal(mine, np.asarray(theirs)[:4, :4])

    def test_damaged_ones(self):
        data = [path.read_bytes() for path in self.PATHS]
        data[3] = data[3][:len(data[3]) // 2]
        field = Image('mine', then=self.TRANSFORM, height=24, width=24)
        with self.assertRaises(recpack_io.CorruptError):
            next(iter(self.loader(data, field)))
        self.folder = self.folder / 'again'
        batch = next(iter(self.loader(data, field, on_bad_record='substitute', max_bad_share=0.5)))
        self.assertNotIn(3, batch['number'])

    def test_what_is_asked_for_before_needs_a_crop(self):
        for options in {'flip': 0.5}, {'policy': 'randaugment'}, {'erasing': 0.1}:
            with self.assertRaisesRegex(ValueError, 'choose a crop'):
                Image(then=self.TRANSFORM, **options)


class Decoding(Calls):
    def test_equals_pillow(self):
        for path in sorted((GOLDEN / 'image').glob('orientation*.jpg')):
            data = path.read_bytes()
            theirs = PIL.Image.open(io.BytesIO(data)).convert('RGB')
            np.testing.assert_array_equal(recpack_io.decode_image(data), np.asarray(theirs))
            turned = np.asarray(PIL.ImageOps.exif_transpose(PIL.Image.open(path)).convert('RGB'))
            np.testing.assert_array_equal(
                recpack_io.decode_image(data, apply_orientation=True), turned)


if __name__ == '__main__':
    main()
