"""Pixels and labels of every named recipe, in every format, type, layout, number of channels and
interpolation, are what torchvision and Pillow make of the files: crops, flips and operations are drawn once more by the stated
formulas. Labels are looked at in every cell; what is not supported has to be an error.

How exact. Pixels before normalising: equal where nothing is resized and with nearest; else at most 1 of
255 off, for how the sums of weighted values are rounded. The operations of a policy are then done with
these very pixels, since posterize would make 64 of 1, and are equal. Normalised values: torchvision's
ToTensor and Normalize of these pixels within 1e-6, since we multiply and add once in float32 and they
divide twice, and half a unit in the last place of float16 (11 bits) and bfloat16 (8 bits)."""
import itertools

import numpy as np
import recpack_io
import torch
from formats import FILTERS, FORMATS, colours, file_of
from keyed_draws import POLICY, SAMPLE, Draws, operation, resized_crop
from PIL import Image, ImageOps
from recpack_io.errors import UnsupportedError
from support import CIFAR, InFolder, golden_rows, main, pack
from torchvision.transforms import InterpolationMode, autoaugment
from torchvision.transforms import functional as tv

SEED = 11
SAMPLES = 4
SIDE = 16  # of small results, of a shorter side of 20
TYPES = {'f32': (torch.float32, 0), 'f16': (torch.float16, 2**-11), 'bf16': (torch.bfloat16, 2**-8)}
CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
AREA, ASPECT = (0.08, 1), (3 / 4, 4 / 3)
POLICIES = {'imagenet-train-randaugment': autoaugment.RandAugment(),
            'imagenet-train-trivialaugment': autoaugment.TrivialAugmentWide()}


def resized(image, size, interpolation):
    if interpolation != 'bilinear-no-antialias':
        return np.asarray(image if image.size == size else image.resize(size, FILTERS[interpolation]))
    tensor = tv.pil_to_tensor(image).float()
    out = tv.resize(tensor, size[::-1], InterpolationMode.BILINEAR, antialias=False)
    return out.round().byte().permute(1, 2, 0).numpy()


def drawn(position, stream):
    return Draws.of_sample(SEED, 0, position, stream)


def train_crop(image, side, interpolation, position):
    draws = drawn(position, SAMPLE)
    flip = draws.unit() < 0.5
    x, y, width, height = resized_crop(draws, image.size, AREA, ASPECT)
    pixels = resized(image.crop((x, y, x + width, y + height)), (side, side), interpolation)
    return pixels[:, ::-1] if flip else pixels


def eval_crop(image, side, shorter, interpolation):
    """As torchvision's Resize(shorter) and CenterCrop(side)."""
    longer = [int(shorter * length / min(image.size)) for length in image.size]
    whole = Image.fromarray(resized(image, tuple(longer), interpolation).squeeze())
    return np.asarray(tv.center_crop(whole, [side, side]))


def augmented(pixels, policy, position):
    """The operations of a policy on a picture of so many pixels, and their names."""
    draws, image, names = drawn(position, POLICY), Image.fromarray(pixels.squeeze()), []
    wide = isinstance(policy, autoaugment.TrivialAugmentWide)
    space = (policy._augmentation_space(31) if wide else
             policy._augmentation_space(31, (image.height, image.width)))
    for _ in range(1 if wide else policy.num_ops):
        name, number, negative = operation(draws)
        magnitudes, signed = space[name]
        number = number if wide else policy.magnitude
        magnitude = magnitudes[number].item() if magnitudes.ndim > 0 else 0.0
        image = autoaugment._apply_op(image, name, -magnitude if signed and negative else magnitude,
                                      InterpolationMode.BILINEAR, None)
        names.append(name)
    return np.asarray(image).reshape(pixels.shape), names


def normalised(pixels, mean, std):
    """Returns float32 (samples, channels, height, width) of uint8 (samples, height, width, channels)."""
    channels = pixels.shape[-1]
    return torch.stack([tv.normalize(tv.to_tensor(np.ascontiguousarray(one)), mean[:channels], std[:channels])
                        for one in pixels])


class Recipes(InFolder):
    def loaded(self, dataset, recipe, layout='nchw', threads=0, **image):
        """(pixels as a tensor (samples, channels, height, width), labels) of a batch in sequence."""
        loader = recpack_io.Loader(dataset, fields=recpack_io.recipe(recipe, layout=layout, **image),
                                   batch_size=SAMPLES, order='sequential', seed=SEED, threads=threads)
        batch = next(iter(loader))
        tensor = torch.from_dlpack(batch.dlpack('image')).clone()
        return tensor.permute(0, 3, 1, 2) if layout == 'nhwc' else tensor, batch['label'].tolist()

    def pixels(self, dataset, recipe, labels, **image):
        """Returns u8 pixels (samples, height, width, channels), which both layouts must give."""
        both = []
        for layout in 'nchw', 'nhwc':
            tensor, got = self.loaded(dataset, recipe, layout, type='u8', **image)
            self.assertEqual((tensor.dtype, got), (torch.uint8, labels))
            both.append(tensor.permute(0, 2, 3, 1).numpy())
        np.testing.assert_array_equal(*both)
        return both[0]

    def check_types(self, dataset, recipe, labels, pixels, mean, std, **image):
        """Every type and layout has these pixels, normalised."""
        want = normalised(pixels, mean, std)
        for (name, (kind, share)), layout in itertools.product(TYPES.items(), ('nchw', 'nhwc')):
            with self.subTest(type=name, layout=layout):
                got, given = self.loaded(dataset, recipe, layout, type=name, **image)
                self.assertEqual((got.dtype, given), (kind, labels))
                self.assertTrue(((got.float() - want).abs() <= 1e-6 + share * want.abs()).all())

    def packed(self, name):
        """A data set of a picture of the format, SAMPLES times with labels of their own, and its file."""
        file, labels = file_of(name), [list(FORMATS).index(name) + 100 * i for i in range(SAMPLES)]
        shard = self.folder / name.replace(':', '')
        with recpack_io.Writer(shard) as writer:
            for label in labels:
                writer.write({'image/encoded': file, 'image/class/label': label})
        return recpack_io.open(shard), file, labels

    def in_every_cell(self, check):
        """Calls it with the data set, image of Pillow, labels, options, and how far off a pixel may be."""
        for name in FORMATS:
            dataset, file, labels = self.packed(name)
            for channels, interpolation in itertools.product((3, 1), (*FILTERS, 'bilinear-no-antialias')):
                options = {'channels': channels, 'interpolation': interpolation, 'height': SIDE,
                           'width': SIDE}
                most = int(interpolation != 'nearest')
                with self.subTest(format=name, channels=channels, interpolation=interpolation):
                    if not name.endswith('16 bit') or channels == 3:
                        check(dataset, colours(file, channels), labels, options, most)
                        continue
                    for recipe in recpack_io.recipe_names():
                        if recipe.startswith('imagenet'):
                            with self.assertRaises(UnsupportedError):
                                self.loaded(dataset, recipe, channels=1)

    def near(self, pixels, want, most):
        want = np.stack(want).reshape(pixels.shape)
        self.assertLessEqual(np.abs(pixels.astype(int) - want.astype(int)).max(), most)

    def test_there_are_no_others(self):
        self.assertEqual(set(recpack_io.recipe_names()),
                         {'cifar10-train', 'cifar10-eval', 'imagenet-train', 'imagenet-eval', *POLICIES})

    def test_cifar10(self):
        pack(CIFAR, self.folder / 'shards')
        dataset = recpack_io.open(self.folder / 'shards')
        rows = golden_rows('train')[:SAMPLES]
        labels = [label for _, label in rows]
        whole = [np.frombuffer(row, np.uint8).reshape(3, 32, 32).transpose(1, 2, 0) for row, _ in rows]
        cropped = []
        for position, picture in enumerate(whole):
            draws = drawn(position, SAMPLE)
            flip = draws.unit() < 0.5
            x, y = draws.below(9), draws.below(9)
            image = ImageOps.expand(Image.fromarray(picture), 4).crop((x, y, x + 32, y + 32))
            cropped.append(np.asarray(ImageOps.mirror(image) if flip else image))
        for recipe, want in ('cifar10-eval', whole), ('cifar10-train', cropped):
            with self.subTest(recipe):
                pixels = self.pixels(dataset, recipe, labels)
                self.near(pixels, want, 0)
                self.check_types(dataset, recipe, labels, pixels, CIFAR_MEAN, CIFAR_STD)
                with self.assertRaises(recpack_io.InvalidArgumentError):  # raw pictures have their own
                    self.loaded(dataset, recipe, channels=1)

    def test_imagenet_eval(self):
        def check(dataset, image, labels, options, most):
            options['resize'] = 20
            pixels = self.pixels(dataset, 'imagenet-eval', labels, **options)
            want = eval_crop(image, SIDE, 20, options['interpolation'])
            self.near(pixels, [want] * SAMPLES, most)
            self.check_types(dataset, 'imagenet-eval', labels, pixels, MEAN, STD, **options)
        self.in_every_cell(check)

    def test_imagenet_train(self):
        def check(dataset, image, labels, options, most):
            pixels = self.pixels(dataset, 'imagenet-train', labels, **options)
            want = [train_crop(image, SIDE, options['interpolation'], i) for i in range(SAMPLES)]
            self.near(pixels, want, most)
            self.check_types(dataset, 'imagenet-train', labels, pixels, MEAN, STD, **options)
        self.in_every_cell(check)

    def test_policies(self):
        seen = set()

        def check(dataset, _image, labels, options, _most):
            crops = self.pixels(dataset, 'imagenet-train', labels, **options)
            for recipe, policy in POLICIES.items():
                pixels = self.pixels(dataset, recipe, labels, **options)
                for position, (got, crop) in enumerate(zip(pixels, crops)):
                    want, names = augmented(crop, policy, position)
                    seen.update(names)
                    np.testing.assert_array_equal(got, want, f'{recipe}: {names}')
                self.check_types(dataset, recipe, labels, pixels, MEAN, STD, **options)
        self.in_every_cell(check)
        self.assertGreater(len(seen), 5)

    def test_as_they_are(self):
        """Without a change of the recipe: its sizes, f32, NCHW; as often and by as many threads as one likes."""
        kinds = {kind: name for name, (_, kind, _) in reversed(FORMATS.items())}  # the first of each
        for name in kinds.values():
            dataset, file, labels = self.packed(name)
            image = colours(file, 3)
            crops = [train_crop(image, 224, 'bilinear', i) for i in range(SAMPLES)]
            for recipe, want in (('imagenet-eval', [eval_crop(image, 224, 256, 'bilinear')] * SAMPLES),
                                 ('imagenet-train', crops), *((policy, None) for policy in POLICIES)):
                with self.subTest(format=name, recipe=recipe):
                    got, given = self.loaded(dataset, recipe)
                    self.assertEqual((got.dtype, tuple(got.shape), given),
                                     (torch.float32, (SAMPLES, 3, 224, 224), labels))
                    for threads in 1, 3:
                        self.assertTrue(torch.equal(self.loaded(dataset, recipe, threads=threads)[0], got))
                    if want is None:  # of which test_policies says more
                        want = self.pixels(dataset, recipe, labels)
                        most = 0
                    else:
                        most = 1
                    values = most / 255 / torch.tensor(STD).reshape(3, 1, 1) + 1e-6
                    wrong = (got - normalised(np.stack(want), MEAN, STD)).abs()
                    self.assertTrue((wrong <= values).all(), wrong.max())


if __name__ == '__main__':
    main()
