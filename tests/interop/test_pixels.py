"""Pixels beside those of Pillow (with its own libjpeg-turbo) and torchvision.

Of the committed samples; where RECPACK_IMAGENET_SAMPLE names a folder, of all JPEGs under it, too.
RECPACK_PIXELS names the program that writes ours (default: the one in build/release/).
"""
import os
import pathlib
import subprocess

import numpy as np
from PIL import Image, ImageOps
from torchvision.transforms import functional as F
from torchvision import transforms

from support import GOLDEN, ROOT, InFolder, main

PIXELS = os.environ.get('RECPACK_PIXELS', str(ROOT / 'build/release/tests/interop/pixels'))
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def jpegs() -> list[pathlib.Path]:
    # A progressive file without its last scans is smoothed, differently by libjpeg-turbo 2.1 and by
    # Pillow's 3.2 (up to 3 of 255): which of them is linked decides, not we.
    found = sorted(path for path in (GOLDEN / 'image').glob('*.jpg')
                   if path.name != 'incomplete.jpg')
    if sample := os.environ.get('RECPACK_IMAGENET_SAMPLE'):
        real = sorted(path for path in pathlib.Path(sample).rglob('*')
                      if path.suffix.lower() in ('.jpg', '.jpeg'))
        if not real:
            raise AssertionError(f'no JPEGs in RECPACK_IMAGENET_SAMPLE={sample}')
        found += real
    return found


def pngs() -> list[pathlib.Path]:
    """Those of 8 bits: Pillow makes no 8 of 16."""
    return sorted(path for path in (GOLDEN / 'image').glob('*.png')
                  if '.expected.' not in path.name and '16' not in path.name)


def ours(*arguments, lines=(), dtype=np.uint8) -> list[tuple]:
    """[(pixels, box, flipped)] of what the program wrote, in its order."""
    text = ''.join(f'{line}\n' for line in lines).encode()
    done = subprocess.run([PIXELS, *map(str, arguments)], input=text, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f'{PIXELS} {arguments}: {done.stderr.decode()}')
    frames, out, at = [], done.stdout, 0
    while at < len(out):
        end = out.index(b'\n', at)
        head = out[at:end].decode()
        if head.startswith('refused'):
            raise AssertionError(head)
        width, height, channels, *box, flipped = map(int, head.split())
        count = width * height * channels
        pixels = np.frombuffer(out, dtype, count, end + 1).reshape(height, width, channels)
        frames.append((pixels, tuple(box), bool(flipped)))
        at = end + 1 + pixels.nbytes
    return frames


class Comparison:
    """How far pictures are apart: the largest difference of a channel, and how many differ."""

    def __init__(self, what: str):
        self.what, self.largest, self.differing, self.channels, self.pictures = what, 0, 0, 0, 0

    def add(self, test, name, mine, theirs, unit=1.0):
        """`unit`: what a difference of 1 of 255 is."""
        theirs = np.asarray(theirs)
        test.assertEqual(mine.shape, theirs.shape, name)
        apart = np.abs(mine.astype(np.float64) - theirs.astype(np.float64)) / unit
        apart = np.round(apart, 3)  # a float's last bits are no difference
        self.largest = max(self.largest, apart.max())
        self.differing += np.count_nonzero(apart)
        self.channels += apart.size
        self.pictures += 1

    def within(self, test, largest):
        print(f'   {self.what}: {self.pictures} pictures, largest difference {self.largest:.3g} '
              f'of 255, {self.differing / self.channels:.4%} of the values differ', flush=True)
        test.assertGreater(self.pictures, 0)
        # So that NaN fails.
        test.assertTrue(self.largest <= largest, f'{self.what}: {self.largest} > {largest}')


def rgb(path: pathlib.Path) -> Image.Image:
    return Image.open(path).convert('RGB')


class DecodedPixels(InFolder):
    def compare(self, what, how, paths, theirs):
        result = Comparison(what)
        for path, (pixels, *_) in zip(paths, ours('decode', *how, lines=paths), strict=True):
            with self.subTest(path.name):
                alone = Comparison(path.name)
                alone.add(self, path.name, pixels, theirs(path))
                self.assertEqual(alone.largest, 0)
            result.add(self, path.name, pixels, theirs(path))
        result.within(self, 0)

    def test_jpegs_are_exactly_pillows(self):
        self.compare('JPEGs as RGB', [], jpegs(), rgb)

    def test_gray_jpegs_as_stored_are_exactly_pillows(self):
        gray = [path for path in jpegs() if Image.open(path).mode == 'L']
        self.compare('gray JPEGs as stored', ['stored'], gray,
                     lambda path: np.asarray(Image.open(path))[:, :, None])

    def test_jpegs_as_seen_are_exactly_pillows(self):
        self.compare('JPEGs turned as EXIF says', ['seen'], jpegs(),
                     lambda path: ImageOps.exif_transpose(Image.open(path)).convert('RGB'))

    def test_pngs_are_exactly_pillows(self):
        self.compare('PNGs as RGB', [], pngs(),
                     lambda path: Image.open(path).convert('RGBA').convert('RGB'))


class ResizedPixels(InFolder):
    def cases(self):
        """(path, box, size): crops and whole pictures, made smaller and larger."""
        random = np.random.default_rng(3)
        for path in jpegs():
            width, height = Image.open(path).size
            yield path, (0, 0, width, height), (224, 224)
            for size in ((224, 224), (97, 31)):
                w, h = int(random.integers(1, width + 1)), int(random.integers(1, height + 1))
                yield path, (int(random.integers(0, width - w + 1)),
                             int(random.integers(0, height - h + 1)), w, h), size

    def compare(self, what, filter, largest, theirs):
        cases = list(self.cases())
        lines = [' '.join(map(str, [filter, *size, *box, path])) for path, box, size in cases]
        result = Comparison(what)
        for (path, box, size), (pixels, *_) in zip(cases, ours('resize', lines=lines), strict=True):
            x, y, w, h = box
            result.add(self, path.name, pixels, theirs(rgb(path).crop((x, y, x + w, y + h)), size))
        result.within(self, largest)

    def compare_with_pillow(self, filter, kind):
        self.compare(f'{filter}, Pillow', filter, 1, lambda part, size: part.resize(size, kind))
        # Since 13 Pillow resizes the height first where that is the cheaper order. In ours, columns
        # before rows, nothing is left to differ.
        self.compare(f'{filter}, Pillow, width first', filter, 0, lambda part, size:
                     part.resize((size[0], part.height), kind).resize(size, kind))

    def test_bilinear_with_antialias_is_pillows(self):
        self.compare_with_pillow('bilinear', Image.Resampling.BILINEAR)

    def test_box_is_pillows(self):
        self.compare_with_pillow('box', Image.Resampling.BOX)

    def test_two_taps_are_torchvisions_without_antialias(self):
        def resized(part, size):
            pixels = F.resize(F.pil_to_tensor(part), size[::-1], antialias=False)
            return pixels.permute(1, 2, 0).numpy()
        self.compare('two taps, torchvision', 'two-taps', 1, resized)


class RecipePixels(InFolder):
    """Recipes by the loader, beside the transforms of torchvision's reference training."""

    def setUp(self):
        super().setUp()
        self.paths = jpegs()
        self.list = self.folder / 'list.csv'
        self.list.write_text('path,label\n' + ''.join(
            f'"{path}",{i}\n' for i, path in enumerate(self.paths)))

    def compare(self, recipe, theirs):
        floats = transforms.Compose([transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
        for kind, dtype in (('u8', np.uint8), ('f32', np.float32)):
            result = Comparison(f'{recipe}, {kind}')
            frames = ours('recipe', recipe, kind, self.list, dtype=dtype)
            for path, (pixels, box, flipped) in zip(self.paths, frames, strict=True):
                expected = theirs(rgb(path), box, flipped)
                if kind == 'u8':
                    result.add(self, path.name, pixels, expected)
                else:
                    result.add(self, path.name, pixels, floats(expected).permute(1, 2, 0).numpy(),
                               unit=1 / 255 / np.array(STD))
            result.within(self, 1)

    def test_imagenet_eval(self):
        preset = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224)])
        self.compare('imagenet-eval', lambda image, box, flipped: preset(image))

    def test_imagenet_train(self):
        def crop(image, box, flipped):
            x, y, w, h = box
            self.assertGreater(w * h, 0)
            part = F.resized_crop(image, y, x, h, w, [224, 224])
            return F.hflip(part) if flipped else part
        self.compare('imagenet-train', crop)


if __name__ == '__main__':
    main()
