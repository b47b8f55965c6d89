"""A tf.data pipeline that maps a Python function.

environment: tf; cause: user function
"""
import keras
import numpy
import tensorflow as tf


def augment(number):
    noise = numpy.random.normal(size=700_000)  # planted
    return noise[:32].astype(numpy.float32), number % 10


def mapped(number):
    row, label = tf.py_function(augment, [number], [tf.float32, tf.int64])
    return tf.ensure_shape(row, (32,)), tf.ensure_shape(label, ())


def main():
    model = keras.Sequential([keras.layers.Input((32,)), keras.layers.Dense(10)])
    optimizer = keras.optimizers.SGD(0.01)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    data = tf.data.Dataset.range(960).map(mapped, num_parallel_calls=2).batch(8).prefetch(2)
    for row, label in data:
        with tf.GradientTape() as tape:
            loss = loss_of(label, model(row, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


if __name__ == '__main__':
    main()
