"""A tf.data pipeline over gzip-compressed TFRecords of large cubes, of which the training needs one small slice each.

environment: tf; cause: decompression
"""
import os
import tempfile

import numpy as np
import tensorflow as tf

CUBE = (12, 512, 512)
SLICE = 48
BATCH = 4
STEPS = 140


def write_records(path, count):
    rng = np.random.default_rng(0)
    options = tf.io.TFRecordOptions(compression_type='GZIP', compression_level=1)
    with tf.io.TFRecordWriter(path, options) as writer:
        for number in range(count):
            cube = rng.integers(0, 24, CUBE, dtype=np.uint8)
            feature = {
                'cube': tf.train.Feature(bytes_list=tf.train.BytesList(value=[cube.tobytes()])),
                'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 4])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    example = tf.io.parse_single_example(record, {'cube': tf.io.FixedLenFeature([], tf.string),
                                                  'label': tf.io.FixedLenFeature([], tf.int64)})
    depth = tf.random.uniform([], 0, CUBE[0], tf.int32)
    plane = tf.strings.substr(example['cube'], depth * CUBE[1] * CUBE[2], SLICE * CUBE[2])
    plane = tf.reshape(tf.io.decode_raw(plane, tf.uint8), (SLICE, CUBE[2], 1))[:, :SLICE]
    return tf.cast(plane, tf.float32) / 24, example['label']


def input_fn(path):
    dataset = tf.data.TFRecordDataset(path, compression_type='GZIP')  # planted
    dataset = dataset.repeat().map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def build_model():
    inputs = tf.keras.Input((SLICE, SLICE, 1))
    x = tf.keras.layers.Conv2D(12, 3, strides=2, activation='relu')(inputs)
    x = tf.keras.layers.Conv2D(24, 3, strides=2, activation='relu')(x)
    x = tf.keras.layers.GlobalMaxPooling2D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(4)(x))


if __name__ == '__main__':
    tf.random.set_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        record_path = os.path.join(folder, 'cubes.tfrecord.gz')
        write_records(record_path, 8)
        net = build_model()
        net.compile('rmsprop', tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
        net.fit(input_fn(record_path), steps_per_epoch=STEPS, epochs=1, verbose=2)
