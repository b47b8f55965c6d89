"""SPDL on the photo recipe: FFmpeg's decoder and filters. Its resize is swscale's bilinear."""
import math
import random

import numpy as np
import spdl.io
from spdl.pipeline import PipelineBuilder

from common import image_paths, main, version_of
from recipes import (AREA, ASPECT, CROP_BATCH, IMAGENET_MEAN, IMAGENET_STD, SIDE, crop_jobs,
                     live_crop)

MEAN = np.array(IMAGENET_MEAN, np.float32)
SCALE = 1 / np.array(IMAGENET_STD, np.float32)


def random_box(width: int, height: int) -> tuple[int, int, int, int]:
    """torchvision's RandomResizedCrop.get_params, without its fallback."""
    for _ in range(10):
        area = random.uniform(*AREA) * width * height
        aspect = math.exp(random.uniform(*map(math.log, ASPECT)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return w, h, random.randint(0, width - w), random.randint(0, height - h)
    return width, height, 0, 0


def decode(path: str):
    with open(path, 'rb') as file:
        packets = spdl.io.demux_image(file.read())
    w, h, x, y = random_box(packets.codec.width, packets.codec.height)
    flip = 'hflip,' if random.random() < 0.5 else ''
    return spdl.io.decode_packets(packets, filter_desc=(
        f'crop={w}:{h}:{x}:{y},scale={SIDE}:{SIDE}:flags=bilinear,{flip}format=pix_fmts=rgb24'))


def crop(job):
    paths = [path for path, _ in image_paths(job.files)]

    def convert(frames):
        image = spdl.io.to_numpy(spdl.io.convert_frames(frames))
        if not job.floats:
            return image
        return (image - MEAN) * SCALE

    def batches():
        order = random.sample(paths, len(paths))
        threads = job.context.threads
        pipeline = (PipelineBuilder().add_source(order)
                    .pipe(decode, concurrency=threads, output_order='completion')
                    .aggregate(CROP_BATCH, drop_last=True).pipe(convert).add_sink(4)
                    .build(num_threads=threads))
        with pipeline.auto_stop():
            for batch in pipeline.get_iterator(timeout=60):
                yield len(batch)
    return live_crop(batches, job, f'FFmpeg crop and scale, NHWC, {job.context.threads} threads', 8)


if __name__ == '__main__':
    main('spdl', version_of('spdl'), crop_jobs(crop))
