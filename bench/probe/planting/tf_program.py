"""TensorFlow training with a tf.data pipeline."""
import itertools
import os
import time

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
import tensorflow as tf  # noqa: E402

from python_program import Planted, main, mean_step  # noqa: E402


class Network(tf.keras.layers.Layer):
    """A model whose call is the simulated device's work."""

    def __init__(self, planted: Planted):
        super().__init__(dtype='float64')
        self.planted, self.weight = planted, tf.Variable(1.0, dtype=tf.float64)

    def call(self, batch: tf.Tensor, step: int) -> tf.Tensor:
        self.planted.device_works(step)
        return self.weight * tf.reduce_mean(batch)


def train(planted: Planted) -> float:
    def sample(position):
        if seconds := planted.item_seconds(int(position)):
            time.sleep(seconds)
        return float(position % 7)

    samples = tf.data.Dataset.range((planted.steps + 8) * Planted.BATCH)
    if planted.cause == 'none':
        samples = samples.map(lambda position: tf.cast(position % 7, tf.float64))
    else:
        samples = samples.map(lambda position: tf.numpy_function(sample, [position], tf.float64),
                              num_parallel_calls=planted.workers)
    batches = samples.batch(Planted.BATCH).prefetch(2)
    if planted.removed:
        batches = itertools.repeat(tf.zeros(Planted.BATCH, tf.float64))
    model = Network(planted)

    def step(number, batch):
        model.weight.assign_sub(1e-6 * model(batch, step=number))

    return mean_step(planted, batches, step)


if __name__ == '__main__':
    main(train)
