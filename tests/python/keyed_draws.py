"""Draws of the loader for a sample, made once more: Philox4x32-10 keyed by seed, epoch and position, and
the crops, flips and operations that come of it (src/base/random.cc, src/loader/image/*.cc)."""
import math

EPOCH, SAMPLE, POLICY = 1, 16, 3 << 16  # streams, of the first view
OPERATIONS = ('Identity', 'ShearX', 'ShearY', 'TranslateX', 'TranslateY', 'Rotate', 'Brightness', 'Color',
              'Contrast', 'Sharpness', 'Posterize', 'Solarize', 'AutoContrast', 'Equalize')
_MOST = 2**32 - 1


def philox(counter, key):
    (a, b, c, d), (k, m) = counter, key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & _MOST, (p >> 32) ^ d ^ m, p & _MOST
        k, m = (k + 0x9E3779B9) & _MOST, (m + 0xBB67AE85) & _MOST
    return a, b, c, d


class Draws:
    """The numbers of a stream at a position."""

    def __init__(self, seed, stream, position):
        self._key, self._place = (seed & _MOST, seed >> 32), (stream, position & _MOST, position >> 32)
        self._blocks, self._left = 0, []

    @classmethod
    def of_sample(cls, seed, epoch, position, stream):
        return cls(cls(seed, EPOCH, epoch).u64(), stream, position)

    def u32(self):
        if not self._left:
            self._left = list(philox((self._blocks, *self._place), self._key))
            self._blocks += 1
        return self._left.pop(0)

    def u64(self):
        return self.u32() | self.u32() << 32

    def below(self, bound):
        product = self.u32() * bound
        while product & _MOST < bound and product & _MOST < 2**32 % bound:
            product = self.u32() * bound
        return product >> 32

    def unit(self):
        return (self.u32() >> 8) * 2.0**-24


def resized_crop(draws, size, area, aspect):
    """(x, y, width, height) of RandomResizedCrop; None where ten tries found none."""
    low, high = map(math.log, aspect)
    for _ in range(10):
        pixels = size[0] * size[1] * (area[0] + (area[1] - area[0]) * draws.unit())
        ratio = math.exp(low + (high - low) * draws.unit())
        width, height = round(math.sqrt(pixels * ratio)), round(math.sqrt(pixels / ratio))
        if 0 < width <= size[0] and 0 < height <= size[1]:
            y = draws.below(size[1] - height + 1)
            return draws.below(size[0] - width + 1), y, width, height
    return None


def operation(draws):
    """(name, bin of its magnitude, whether it is negative where it has a sign)."""
    return OPERATIONS[draws.below(len(OPERATIONS))], draws.below(31), draws.u32() % 2 == 1
