#!/usr/bin/env python3
"""Prints the cases of resize_cases.txt: what Pillow's resize makes of regions of pictures.

A line: source x y width height new_width new_height filter SHA-256 of the pixels. A source is the
name of a sample or noise:WIDTH:HEIGHT:CHANNELS. Needs numpy and Pillow 9 to 12 (13 resizes rows
first where that is less work, which rounds otherwise); the result is committed.
"""
import hashlib
import pathlib
import random

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent
FILTERS = {"bilinear": Image.Resampling.BILINEAR, "box": Image.Resampling.BOX}


def noise(width, height, channels):
    """Upper bytes of a linear congruential generator that starts at the number of pixels."""
    state, out = width * height, bytearray()
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return np.frombuffer(bytes(out), np.uint8).reshape(height, width, channels)


def pixels_of(source):
    if source.startswith("noise:"):
        return noise(*map(int, source.split(":")[1:]))
    return np.asarray(Image.open(HERE / source).convert("RGB"))


def resize(pixels, box, size, kind):
    """By channels: Pillow multiplies colours by what it takes for alpha."""
    x, y, w, h = box
    planes = [Image.fromarray(np.ascontiguousarray(pixels[y:y + h, x:x + w, c])).resize(size, kind)
              for c in range(pixels.shape[2])]
    return np.stack([np.asarray(plane) for plane in planes], axis=2)


def cases():
    sources = [f"noise:{w}:{h}:{c}" for c in (1, 2, 3, 4) for w, h in ((97, 61), (5, 3), (1, 1))]
    sources += ["noise:1500:11:3", "noise:7:1300:3", "real_420.jpg", "real_444.jpg"]
    rng = random.Random(4)
    for source in sources:
        height, width = pixels_of(source).shape[:2]
        for kind in FILTERS:
            for _ in range(6):
                w, h = rng.randint(1, width), rng.randint(1, height)
                box = rng.randint(0, width - w), rng.randint(0, height - h), w, h
                scale = rng.choice([0.05, 0.3, 0.6, 0.75, 0.99, 1, 1.5, 4])
                yield source, box, tuple(max(1, round(n * scale)) for n in (w, h)), kind
            whole = 0, 0, width, height
            yield source, whole, (width, max(1, height // 2)), kind
            yield source, whole, (max(1, width // 2), height), kind
            yield source, whole, (13, 9), kind


def main():
    for source, box, size, kind in cases():
        out = resize(pixels_of(source), box, size, FILTERS[kind])
        print(source, *box, *size, kind, hashlib.sha256(out.tobytes()).hexdigest())


main()
