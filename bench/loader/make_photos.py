#!/usr/bin/env python3
"""Makes many distinct photos out of a few: crops of real JPEG files, encoded anew.

    python3 bench/loader/make_photos.py SOURCE OUT --gigabytes 2

SOURCE holds CLASS/*.JPEG, at any depth; OUT gets CLASS/NAME_NUMBER.jpg. Each crop keeps 85 to 100 %
of either side and is written with its source's quantisation tables and chroma sampling, so that sizes
and detail stay those of the source. The same arguments give the same files.
"""
import argparse
import multiprocessing
import pathlib
import random

from PIL import Image, JpegImagePlugin


def crop(job: tuple[pathlib.Path, pathlib.Path, int]) -> int:
    """Writes one crop; returns its bytes."""
    source, target, number = job
    draw = random.Random(f'{source.name} {number}')
    with Image.open(source) as image:
        tables, sampling = image.quantization, JpegImagePlugin.get_sampling(image)
        gray = len(image.getbands()) == 1
        picture = image.convert('L' if gray else 'RGB')
    width, height = (max(1, round(side * draw.uniform(0.85, 1))) for side in picture.size)
    left = draw.randint(0, picture.width - width)
    top = draw.randint(0, picture.height - height)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix('.part')  # workers are killed at the end
    cropped = picture.crop((left, top, left + width, top + height))
    cropped.save(part, 'JPEG', qtables=tables, subsampling=-1 if gray else max(sampling, 0))
    part.rename(target)
    return target.stat().st_size


def jobs(source: pathlib.Path, out: pathlib.Path):
    """Endless: every source once, then every source again."""
    photos = sorted(p for p in source.rglob('*') if p.suffix.lower() in ('.jpg', '.jpeg'))
    if not photos:
        raise SystemExit(f'no JPEG files below {source}')
    number = 0
    while True:
        for photo in photos:
            yield photo, out / photo.parent.name / f'{photo.stem}_{number:04}.jpg', number
        number += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('source', type=pathlib.Path)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--gigabytes', type=float, default=2)
    options = parser.parse_args()
    if options.out.exists():
        raise SystemExit(f'{options.out} is there already')
    written, count = 0, 0
    with multiprocessing.Pool() as pool:
        for size in pool.imap(crop, jobs(options.source, options.out), chunksize=8):
            written, count = written + size, count + 1
            if written >= options.gigabytes * 1e9:
                pool.terminate()
                break
    for part in options.out.rglob('*.part'):
        part.unlink()
    print(f'{count} photos, {written / 1e9:.2f} GB')


if __name__ == '__main__':
    main()
