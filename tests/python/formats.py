"""Pictures in each format that is read, and their pixels as Pillow has them."""
import io

import numpy as np
from PIL import Image

FROM = (37, 29)  # width, height
FORMATS = {'jpeg rgb': ('RGB', 'JPEG', {'quality': 95}), 'jpeg gray': ('L', 'JPEG', {'quality': 95}),
           'jpeg cmyk': ('CMYK', 'JPEG', {'quality': 95}),
           'jpeg progressive': ('RGB', 'JPEG', {'quality': 90, 'progressive': True}),
           'jpeg 4:2:0': ('RGB', 'JPEG', {'quality': 90, 'subsampling': 2}),
           'png rgb': ('RGB', 'PNG', {}), 'png rgba': ('RGBA', 'PNG', {}), 'png gray': ('L', 'PNG', {}),
           'png gray alpha': ('LA', 'PNG', {}), 'png palette': ('P', 'PNG', {}),
           'png palette 4 bit': ('P', 'PNG', {'bits': 4}), 'png palette 1 bit': ('P', 'PNG', {'bits': 1}),
           'png 1 bit': ('1', 'PNG', {}), 'png 16 bit': ('I;16', 'PNG', {})}
FILTERS = {'bilinear': Image.BILINEAR, 'box': Image.BOX, 'nearest': Image.NEAREST}


def picture(mode, **save):
    """The pixels of a picture of a mode, of few colours and sharp edges."""
    chance = np.random.default_rng(7)
    width, height = FROM
    if mode == 'I;16':
        return Image.fromarray(chance.integers(0, 65536, (height, width)).astype(np.uint16))
    if mode == 'P':
        most = 2 ** save.get('bits', 8)
        image = Image.fromarray(chance.integers(0, min(most, 21), (height, width)).astype(np.uint8), 'P')
        image.putpalette(chance.integers(0, 256, 3 * most).astype(np.uint8).tobytes())
        return image
    if mode == '1':
        return Image.fromarray(chance.integers(0, 2, (height, width)).astype(bool))
    smooth = np.add.outer(np.arange(height) * 5, np.arange(width) * 3)
    rgb = np.stack([smooth % 256, smooth[::-1] % 256, chance.integers(0, 256, smooth.shape)], -1)
    return Image.fromarray(rgb.astype(np.uint8)).convert(mode)


def colours(data, channels):
    """A file's pixels as an image of that many channels, as Pillow reads and converts it."""
    image = Image.open(io.BytesIO(data))
    if image.mode.startswith('I'):  # 16 bits, which Pillow would cut off at 255: v / 257, rounded
        wide = np.asarray(image).astype(np.uint32)
        image = Image.fromarray(((wide * 255 + 32767) // 65535).astype(np.uint8))
    if channels == 3:
        return image.convert('RGB')
    if image.mode == 'P':
        return Image.fromarray(np.asarray(image))  # the numbers of its entries
    if image.mode == 'CMYK':
        image = image.convert('RGB')
    elif image.mode in ('LA', 'RGBA'):  # alpha is dropped
        image = image.convert(image.mode[:-1])
    return image.convert('L')


def file_of(name):
    """A picture of the format, as a file."""
    mode, kind, save = FORMATS[name]
    file = io.BytesIO()
    picture(mode, **save).save(file, kind, **save)
    return file.getvalue()
