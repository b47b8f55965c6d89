"""A tf.data pipeline from a Python generator that waits for each sample.

environment: tf; cause: user function
"""
import time

import keras
import numpy
import tensorflow as tf


def samples():
    for number in range(640):
        time.sleep(0.012)  # planted
        yield numpy.full(32, number / 640, numpy.float32), number % 10


def main():
    model = keras.Sequential([keras.layers.Input((32,)), keras.layers.Dense(10)])
    optimizer = keras.optimizers.SGD(0.01)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    spec = (tf.TensorSpec((32,), tf.float32), tf.TensorSpec((), tf.int64))
    data = tf.data.Dataset.from_generator(samples, output_signature=spec).batch(8).prefetch(2)
    for row, label in data:
        with tf.GradientTape() as tape:
            loss = loss_of(label, model(row, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


if __name__ == '__main__':
    main()
