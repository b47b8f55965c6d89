"""Functions for the tests of function fields; worker processes import it, too."""
import subprocess
import sys

import numpy as np
import recpack_io
from png_files import png
from recpack_io import Function, Loader
from support import CIFAR, InFolder, pack

HEAD = '''
import sys, recpack_io
dataset = recpack_io.open(sys.argv[1])
'''


def odd(sample):
    raise ValueError(f'record {sample.id} is odd')


class Draw:
    def __init__(self, name):
        self.name = name

    def __call__(self, sample):
        return {self.name: sample.rng.random(3, np.float32)}


def drawing(name='draw', **options):
    return Function(Draw(name), {name: ('float32', 3)}, **options)


# Each pixel of a picture says where it lies: (x, y, 0).
PLACES = np.zeros((40, 60, 3), np.uint8)
PLACES[..., 0], PLACES[..., 1] = np.arange(60)[None, :], np.arange(40)[:, None]
CROPS = {'random-resized': {'crop': 'random-resized', 'height': 24, 'width': 28, 'area': [0.3, 1.0]},
         'resize-centre': {'crop': 'resize-centre', 'height': 20, 'width': 24, 'resize': 25},
         'resize': {'crop': 'resize', 'height': 33, 'width': 21},
         'pad': {'crop': 'pad', 'pad': 4, 'height': 40, 'width': 60}, 'none': {'height': 40, 'width': 60}}


def placed(sample):
    """How far the picture's pixels are from where the crop says that they come from, in pixels of the source."""
    left, top, width, height = sample.crop
    rows, columns = sample.image.shape[:2]
    x = left + (np.arange(columns) + 0.5) * width / columns
    y = top + (np.arange(rows) + 0.5) * height / rows
    if sample.flip:
        x = x[::-1]
    inside = ((y > 0) & (y < 40))[:, None] & ((x > 0) & (x < 60))
    off = np.maximum(abs(sample.image[..., 0] + 0.5 - x[None, :]), abs(sample.image[..., 1] + 0.5 - y[:, None]))
    return {'off': off[inside].max(), 'inside': inside.mean(), 'flip': sample.flip, 'source': sample.source_size}


PLACED = {'off': 'float32', 'inside': 'float32', 'flip': 'uint8', 'source': ('int64', 2)}


PNG_OF_PLACES = png(PLACES)


class Calls(InFolder):
    """Calls on a small data set: `image`, of 3 x 32 x 32 bytes, and `label`."""

    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def loader(self, *functions, **options):
        fields = [*recpack_io.recipe('cifar10-eval'), *functions]
        return Loader(self.dataset, fields=fields, **{'batch_size': 8, 'seed': 3} | options)

    def check_crops(self, **options):
        """The crop is where the pixels come from, for each kind, and for raw and encoded pictures."""
        with recpack_io.Writer(self.folder / 'places') as writer:
            for _ in range(16):
                writer.write({'raw': PLACES.transpose(2, 0, 1).tobytes(), 'png': PNG_OF_PLACES})
        dataset, flips = recpack_io.open(self.folder / 'places'), set()
        for name, crop in CROPS.items():
            for feature in ('raw',) if name == 'pad' else ('raw', 'png'):
                shape = {'raw_shape': [3, 40, 60]} if feature == 'raw' else {}
                image = recpack_io.Image(feature=feature, interpolation='nearest', flip=0.5, **crop, **shape)
                for batch in Loader(dataset, fields=[Function(placed, PLACED, image=image)], batch_size=8, seed=1, **options):
                    with self.subTest(name, feature=feature):
                        self.assertLessEqual(batch['off'].max(), 0.501 * max(1, 60 / crop['width'], 40 / crop['height']) + 0.5)
                        self.assertGreater(batch['inside'].min(), 0.7)
                        self.assertEqual(batch['source'].tolist(), [[40, 60]] * 8)
                        flips.update(batch['flip'].tolist())
        self.assertEqual(flips, {0, 1})

    def script(self, text, *arguments):
        """The module is run from a file, as processes that are spawned ask for it."""
        path = self.folder / 'script.py'
        path.write_text(HEAD + text)
        command = [sys.executable, str(path), str(self.folder / 'shards'), *map(str, arguments)]
        return subprocess.run(command, text=True, capture_output=True, timeout=120, check=False)
