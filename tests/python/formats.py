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
           'png 1 bit': ('1', 'PNG', {}), 'png 16 bit': ('I;16', 'PNG', {}),
           'webp lossless': ('RGB', 'WEBP', {'lossless': True}), 'webp lossy': ('RGB', 'WEBP', {'quality': 90}),
           'webp rgba': ('RGBA', 'WEBP', {'lossless': True}), 'bmp rgb': ('RGB', 'BMP', {}),
           'bmp rgba': ('RGBA', 'BMP', {}), 'bmp gray': ('L', 'BMP', {}), 'bmp palette': ('P', 'BMP', {}),
           'bmp palette of grays': ('P', 'BMP', {'grays': True}), 'bmp 1 bit': ('1', 'BMP', {}),
           'gif gray': ('L', 'GIF', {}), 'gif palette': ('P', 'GIF', {}),
           'gif palette of grays': ('P', 'GIF', {'grays': True}), 'gif animated': ('P', 'GIF', {'frames': 3}),
           'tiff rgb': ('RGB', 'TIFF', {}), 'tiff gray': ('L', 'TIFF', {'compression': 'tiff_lzw'}), 'tiff palette': ('P', 'TIFF', {}),
           'tiff cmyk': ('CMYK', 'TIFF', {'compression': 'tiff_adobe_deflate'}), 'tiff rgba': ('RGBA', 'TIFF', {}),
           'tiff 1 bit': ('1', 'TIFF', {'compression': 'group4'}), 'tiff 16 bit': ('I;16', 'TIFF', {}),
           'gif in sequence': ('P', 'GIF', {'interlace': 0}), 'png palette of grays': ('P', 'PNG', {'grays': True})}
# Where the format has a place for it, and its decoder is told to obey.
TURNED = {'jpeg': ('RGB', 'JPEG', {'quality': 95}), 'png': ('RGB', 'PNG', {}), 'png palette': ('P', 'PNG', {}),
          'webp': ('RGB', 'WEBP', {'lossless': True}), 'tiff': ('RGB', 'TIFF', {'compression': 'tiff_lzw'})}
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
        colours = chance.integers(0, 256, (most, 3))
        if save.get('grays'):
            colours = np.repeat(12 * np.arange(most)[:, None] % 256, 3, 1)
        image.putpalette(colours.astype(np.uint8).tobytes())
        return image
    if mode == '1':
        return Image.fromarray(chance.integers(0, 2, (height, width)).astype(bool))
    smooth = np.add.outer(np.arange(height) * 5, np.arange(width) * 3)
    rgb = np.stack([smooth % 256, smooth[::-1] % 256, chance.integers(0, 256, smooth.shape)], -1)
    image = Image.fromarray(rgb.astype(np.uint8)).convert(mode)
    if mode in ('LA', 'RGBA'):
        image.putalpha(Image.fromarray(chance.integers(0, 256, smooth.shape).astype(np.uint8)))
    return image


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


def written(mode, kind, **save):
    """A picture, as a file of that kind."""
    file, image = io.BytesIO(), picture(mode, **save)
    grays, frames = save.pop('grays', False), save.pop('frames', 1)
    if frames > 1:
        save.update(save_all=True, append_images=[image.rotate(90 * i) for i in range(1, frames)])
    if grays:
        save['optimize'] = False
    image.save(file, kind, **save)
    return file.getvalue()


def file_of(name):
    """A picture of the format, as a file."""
    mode, kind, save = FORMATS[name]
    return written(mode, kind, **save)


def turned(name, orientation):
    """A picture with an EXIF orientation (1 to 8), as a file."""
    mode, kind, save = TURNED[name]
    exif = Image.Exif()
    exif[0x0112] = orientation
    return written(mode, kind, exif=exif, **save)
