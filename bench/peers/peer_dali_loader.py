"""NVIDIA DALI on the loaders' recipes, CPU pipelines over the same TFRecord shards."""
from nvidia.dali import fn, pipeline_def, types
import nvidia.dali.tfrecord as tfrecord

from common import main, version_of
from peer_dali import write_index
from recipes import (AREA, ASPECT, CIFAR_BATCH, CIFAR_MEAN, CIFAR_STD, CROP_BATCH, IMAGENET_MEAN,
                     IMAGENET_STD, SIDE, cifar_jobs, crop_jobs, live_cifar, live_crop)

AHEAD = 4


def read(files, indexes, image: str, label: str, fill: int):
    features = {image: tfrecord.FixedLenFeature((), tfrecord.string, ''),
                label: tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
    row = fn.readers.tfrecord(path=files, index_path=indexes, features=features,
                              random_shuffle=True, initial_fill=fill, prefetch_queue_depth=2)
    return row[image], row[label]


def endless(pipeline, batch: int):
    running = pipeline()
    running.build()

    def batches():
        while True:
            running.run()
            yield batch
    return batches


def cifar(context, floats: bool):
    files = context.shards('cifar')
    out = context.fresh('dali-loader-index')
    indexes = [str(out / f'{i}.idx') for i in range(len(files))]
    for pair in zip(files, indexes):
        write_index(*pair)

    @pipeline_def(batch_size=CIFAR_BATCH, num_threads=context.threads, device_id=None,
                  prefetch_queue_depth=2)
    def pipeline():
        image, label = read(files, indexes, 'image', 'label', 10_000)
        image = fn.reshape(image, shape=[3, 32, 32], layout='CHW')
        place = fn.cast(fn.random.uniform(range=(-4.49, 4.49), shape=[2]), dtype=types.INT32)
        image = fn.slice(image, start=place, shape=[32, 32], axes=[1, 2],
                         out_of_bounds_policy='pad')
        if not floats:
            image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), dtype=types.UINT8,
                                             output_layout='CHW')
            return image, label
        return fn.crop_mirror_normalize(
            image, mirror=fn.random.coin_flip(), mean=list(CIFAR_MEAN), std=list(CIFAR_STD),
            dtype=types.FLOAT, output_layout='CHW'), label
    return live_cifar(endless(pipeline, CIFAR_BATCH),
                      f'readers.tfrecord, slice, crop_mirror_normalize, NCHW, {context.threads} threads',
                      AHEAD, floats)


def crop(job):
    @pipeline_def(batch_size=CROP_BATCH, num_threads=job.context.threads, device_id=None,
                  prefetch_queue_depth=2)
    def pipeline():
        jpeg, label = read(job.shards, job.indexes, 'image/encoded', 'image/class/label', 1000)
        image = fn.decoders.image_random_crop(
            jpeg, device='cpu', output_type=types.RGB, random_aspect_ratio=list(ASPECT),
            random_area=list(AREA), num_attempts=10)
        image = fn.resize(image, size=(SIDE, SIDE), antialias=job.antialias,
                          interp_type=types.INTERP_LINEAR)
        if not job.floats:
            return fn.flip(image, horizontal=fn.random.coin_flip()), label
        return fn.crop_mirror_normalize(
            image, mirror=fn.random.coin_flip(), mean=list(IMAGENET_MEAN), std=list(IMAGENET_STD),
            dtype=types.FLOAT, output_layout='CHW'), label
    return live_crop(endless(pipeline, CROP_BATCH), job,
                     f"decoders.image_random_crop, {'NCHW' if job.floats else 'NHWC'}, {job.context.threads} threads", AHEAD)


if __name__ == '__main__':
    main('dali', version_of('nvidia-dali-cuda120'), {**cifar_jobs(cifar), **crop_jobs(crop)})
