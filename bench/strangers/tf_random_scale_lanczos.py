"""A tf.data pipeline for small pictures, trained by a loop of its own; one of its ops rescales with a wide filter.

environment: tf; cause: augment, user function
"""
import argparse
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

CROP = 64


def random_scale(image, low=0.9, high=1.8):
    factor = tf.random.uniform([], low, high)
    size = tf.cast(tf.cast(tf.shape(image)[:2], tf.float32) * factor, tf.int32)
    return tf.image.resize(image, size, method='lanczos5', antialias=True)  # planted


def random_flip(image):
    return tf.image.random_flip_left_right(image)


def random_crop(image):
    return tf.image.random_crop(image, [CROP, CROP, 3])


def normalise(image):
    return (image - 127.5) / 127.5


def chain(*functions):
    def apply(image, label):
        for function in functions:
            image = function(image)
        return image, label
    return apply


def make_dataset(paths, labels, batch_size, epochs):
    def load(path, label):
        image = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
        return tf.cast(tf.reshape(image, [80, 80, 3]), tf.float32), label

    dataset = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths)).repeat(epochs)
    dataset = dataset.map(load, num_parallel_calls=2)
    dataset = dataset.map(chain(random_scale, random_flip, random_crop, normalise), num_parallel_calls=2)
    return dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--epochs', type=int, default=20)
    args = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(0)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f'{number:04}.rgb') for number in range(256)]
        for path in paths:
            rng.integers(0, 256, (80, 80, 3), np.uint8).tofile(path)
        dataset = make_dataset(paths, rng.integers(0, 10, len(paths)), args.batch_size, args.epochs)
        model = keras.Sequential([keras.Input((CROP, CROP, 3)),
                                  keras.layers.Conv2D(8, 5, strides=4, activation='relu'),
                                  keras.layers.Conv2D(16, 3, strides=2, activation='relu'),
                                  keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)])
        optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
        optimizer.build(model.trainable_variables)
        loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @tf.function
        def train_step(images, labels):
            with tf.GradientTape() as tape:
                loss = loss_fn(labels, model(images, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss

        for step, (images, labels) in enumerate(dataset):
            loss = train_step(images, labels)
            if step % 40 == 0:
                print(f'step {step} loss {float(loss):.3f}')


if __name__ == '__main__':
    main()
