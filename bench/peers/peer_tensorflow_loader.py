"""tf.data on the loaders' recipes, one live iterator over an endless list of shards."""
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import tensorflow as tf

from common import main, version_of
from recipes import (AREA, ASPECT, CIFAR_BATCH, CIFAR_MEAN, CIFAR_STD, CROP_BATCH, IMAGENET_MEAN,
                     IMAGENET_STD, SIDE, cifar_jobs, crop_jobs, live_cifar, live_crop)

ENDLESS = 10_000
AUTO = tf.data.AUTOTUNE
CIFAR = {'image': tf.io.FixedLenFeature([], tf.string),
         'label': tf.io.FixedLenFeature([], tf.int64)}
PHOTO = {'image/encoded': tf.io.FixedLenFeature([], tf.string),
         'image/class/label': tf.io.FixedLenFeature([], tf.int64)}


def sizes(dataset):
    """The size of each batch as it is taken."""
    def batches():
        for _, label in dataset:
            yield int(label.shape[0])
    return batches


def crop_and_flip_batch(floats: bool):
    """The recipe on a whole batch at once, in the rows' own layout: the fastest way that was found."""
    mean, scale = tf.reshape(tf.constant(CIFAR_MEAN), [1, 3, 1, 1]), tf.reshape(1 / tf.constant(CIFAR_STD), [1, 3, 1, 1])

    def of_batch(records):
        example = tf.io.parse_example(records, CIFAR)
        image = tf.reshape(tf.io.decode_raw(example['image'], tf.uint8), [-1, 3, 32, 32])
        count = tf.shape(image)[0]
        image = tf.pad(image, [[0, 0], [0, 0], [4, 4], [4, 4]])
        y = tf.random.uniform([count], 0, 9, tf.int32)
        x = tf.random.uniform([count], 0, 9, tf.int32)
        flip = tf.random.uniform([count]) < 0.5
        line = tf.range(32)
        columns = tf.where(flip[:, None], x[:, None] + 31 - line, x[:, None] + line)
        places = (y[:, None] + line)[:, :, None] * 40 + columns[:, None, :]
        image = tf.gather(tf.reshape(image, [-1, 3, 1600]), places, axis=2, batch_dims=1)
        if floats:
            image = (tf.cast(image, tf.float32) - mean) * scale
        return image, example['label']
    return of_batch


def cifar(context, floats: bool):
    files = context.shards('cifar')
    options = tf.data.Options()
    options.deterministic = False
    dataset = tf.data.TFRecordDataset(files * ENDLESS).shuffle(10_000).batch(
        CIFAR_BATCH, drop_remainder=True).map(crop_and_flip_batch(floats), num_parallel_calls=AUTO)
    return live_cifar(sizes(dataset.prefetch(AUTO).with_options(options)),
                      'shuffle(10000), whole batches mapped, NCHW', 64, floats)


def photos(shards: list[str], batch: int, floats: bool, antialias: bool):
    """Endless batches of the crop recipe."""
    def decode(record):
        example = tf.io.parse_single_example(record, PHOTO)
        jpeg = example['image/encoded']
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(jpeg), tf.zeros([1, 0, 4]), min_object_covered=0.0,
            aspect_ratio_range=ASPECT, area_range=AREA, max_attempts=10,
            use_image_if_no_bounding_boxes=True)
        y, x, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        image = tf.image.decode_and_crop_jpeg(jpeg, tf.stack([y, x, height, width]), 3,
                                              dct_method='INTEGER_ACCURATE')
        image = tf.image.resize(image, [SIDE, SIDE], antialias=antialias)
        image = tf.image.random_flip_left_right(image)
        if not floats:
            return tf.cast(image, tf.uint8), example['image/class/label']
        image = (image - IMAGENET_MEAN) * (1 / tf.constant(IMAGENET_STD))
        return image, example['image/class/label']
    options = tf.data.Options()
    options.deterministic = False
    return tf.data.TFRecordDataset(shards * ENDLESS, num_parallel_reads=2).shuffle(
        1000).map(decode, num_parallel_calls=AUTO).batch(batch).with_options(options)


def crop(job):
    dataset = photos(job.shards, CROP_BATCH, job.floats, job.antialias).prefetch(AUTO)
    return live_crop(sizes(dataset), job,
                     'decode_and_crop_jpeg INTEGER_ACCURATE, shuffle(1000), NHWC', 16)


if __name__ == '__main__':
    main('tensorflow', version_of('tensorflow-cpu'), {**cifar_jobs(cifar), **crop_jobs(crop)})
