"""Machine wear regressor whose tf.data map splits and converts long rows of written numbers one line at a time.

environment: tf; cause: parse, user function, too few workers
"""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

CHANNELS, SAMPLES = 4, 900
MACHINES = 640
BATCH = 16


def write_logs(folder, files=4):
    rng = np.random.default_rng(8)
    paths = []
    for n in range(files):
        path = os.path.join(folder, f"machine_log_{n:02d}.txt")
        with open(path, "w") as out:
            for _ in range(MACHINES // files):
                wear = rng.uniform(0, 1)
                signal = rng.normal(0, 0.2 + wear, CHANNELS * SAMPLES).astype(np.float32)
                out.write(f"{wear:.4f};" + " ".join(f"{v:.5f}" for v in signal) + "\n")
        paths.append(path)
    return paths


def parse_line(line):
    parts = tf.strings.split(line, ";")
    wear = tf.strings.to_number(parts[0])
    words = tf.strings.split(parts[1], " ")  # planted
    signal = tf.strings.to_number(words)  # planted
    return tf.reshape(signal, (SAMPLES, CHANNELS)), wear


def make_dataset(paths):
    return (
        tf.data.TextLineDataset(paths)
        .shuffle(256, seed=8)
        .map(parse_line)  # planted
        .batch(BATCH, drop_remainder=True)
        .prefetch(1)
    )


def make_model():
    return tf.keras.Sequential([
        tf.keras.Input((SAMPLES, CHANNELS)),
        tf.keras.layers.Conv1D(8, 9, strides=8, activation="relu"),
        tf.keras.layers.Conv1D(16, 5, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1),
    ])


def main():
    tf.keras.utils.set_random_seed(8)
    with tempfile.TemporaryDirectory() as folder:
        dataset = make_dataset(write_logs(folder))
        model = make_model()
        optimizer = tf.keras.optimizers.Adam(2e-3)

        @tf.function
        def train_step(signal, wear):
            with tf.GradientTape() as tape:
                guess = model(signal, training=True)[:, 0]
                loss = tf.reduce_mean(tf.square(guess - wear))
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            return loss

        for epoch in range(8):
            losses = []
            for signal, wear in dataset:
                losses.append(float(train_step(signal, wear)))
            print(f"epoch {epoch}: mse {np.mean(losses):.4f}")


if __name__ == "__main__":
    main()
