#!/usr/bin/env python3
"""Prints the cases of cases.txt: what Pillow makes of small pictures.

A line: operation argument width height channels SHA-256 of the pixels, 16 digits of it. The
picture is noise (see noise()). Operations are those of torchvision's transforms.functional on
Pillow's pictures, whose few lines of Python stand here. Needs numpy and Pillow 11.3.0 (12.0.0 and
13.0.0 give the same); the result is committed.
"""
import hashlib

import numpy as np
from PIL import Image, ImageEnhance, ImageOps


def noise(width, height, channels):
    """Values of a linear congruential generator that starts at the number of pixels, in a
    range of their own in every eighth of the picture, so that there are smooth parts, too."""
    state, out, count = width * height, bytearray(), width * height * channels
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        part = i * 8 // count
        out.append((part * 29 + (state >> 24) * (8 - part) // 8) % 256)
    return np.frombuffer(bytes(out), np.uint8).reshape(height, width, channels)


def hue(image, turn):
    if image.mode == "L":
        return image
    h, s, v = image.convert("HSV").split()
    turned = (np.asarray(h).astype(np.int32) + int(turn * 255)) % 256
    return Image.merge("HSV", (Image.fromarray(turned.astype(np.uint8)), s, v)).convert("RGB")


def affine(matrix, kind):
    return lambda i, x: i.transform(i.size, Image.Transform.AFFINE, matrix(x), kind, fillcolor=0)


def turn(kind):
    return lambda i, x: i.rotate(x, kind, fillcolor=0)


def warps(suffix, kind):
    """torchvision's affine() and rotate(): inverse matrices."""
    slopes, shifts = (-0.99, -0.3, 0.03, 0.2, 0.627), (-32, -7, 1, 10)
    return {
        "shear_x" + suffix: (affine(lambda x: (1, x, 0, 0, 1, 0), kind), slopes),
        "shear_y" + suffix: (affine(lambda x: (1, 0, 0, x, 1, 0), kind), slopes),
        "translate_x" + suffix: (affine(lambda x: (1, 0, -x, 0, 1, 0), kind), shifts),
        "translate_y" + suffix: (affine(lambda x: (1, 0, 0, 0, 1, -x), kind), shifts),
        "rotate" + suffix: (turn(kind), (-135, -90, -22.5, 0, 4.5, 9, 30, 90, 112.3)),
    }


OPERATIONS = {
    "brightness": (lambda i, x: ImageEnhance.Brightness(i).enhance(x), (0, 0.1, 0.6, 1, 1.3, 1.99)),
    "contrast": (lambda i, x: ImageEnhance.Contrast(i).enhance(x), (0, 0.1, 0.6, 1, 1.3, 1.99)),
    "saturation": (lambda i, x: ImageEnhance.Color(i).enhance(x), (0, 0.1, 0.6, 1, 1.3, 1.99)),
    "sharpness": (lambda i, x: ImageEnhance.Sharpness(i).enhance(x), (0, 0.1, 0.6, 1, 1.3, 1.99)),
    "hue": (hue, (-0.5, -0.3, -0.01, 0, 0.1, 0.25, 0.5)),
    "posterize": (lambda i, x: ImageOps.posterize(i, x), (1, 2, 4, 7, 8)),
    "solarize": (lambda i, x: ImageOps.solarize(i, x), (0, 8.5, 127.5, 178.5, 255)),
    "autocontrast": (lambda i, x: ImageOps.autocontrast(i), (0,)),
    "equalize": (lambda i, x: ImageOps.equalize(i), (0,)),
    **warps("", Image.Resampling.NEAREST),
    **warps("_bilinear", Image.Resampling.BILINEAR),
}

SIZES = (1, 1), (2, 5), (3, 3), (24, 17), (61, 40), (64, 64)


def main():
    for name, (operation, arguments) in OPERATIONS.items():
        for argument in arguments:
            for width, height in SIZES:
                for channels in (3, 1):
                    pixels = noise(width, height, channels)
                    image = Image.fromarray(pixels if channels == 3 else pixels[:, :, 0])
                    out = np.asarray(operation(image, argument)).tobytes()
                    print(name, argument, width, height, channels, hashlib.sha256(out).hexdigest()[:16])


main()
