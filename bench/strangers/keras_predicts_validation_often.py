"""Heart beat classifier in Keras with a callback that predicts a validation set after every fourth batch.

environment: tf; cause: host
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CFG = dict(beats=9600, length=180, classes=4, batch_size=128, epochs=5, lr=1e-3, seed=12)


def make_beats(cfg):
    rng = np.random.default_rng(cfg["seed"])
    t = np.linspace(-1, 1, cfg["length"])
    labels = rng.integers(0, cfg["classes"], cfg["beats"])
    width = 0.05 + 0.03 * labels[:, None]
    shift = rng.uniform(-0.2, 0.2, (len(labels), 1))
    beats = np.exp(-(((t - shift) / width) ** 2))
    beats += 0.3 * np.exp(-(((t - shift - 0.5) / 0.15) ** 2))
    beats += 0.1 * rng.standard_normal(beats.shape)
    return beats[..., None].astype("float32"), labels


def build(cfg):
    return keras.Sequential([
        keras.Input((cfg["length"], 1)),
        layers.Conv1D(16, 7, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(cfg["classes"]),
    ])


class BestRecall(keras.callbacks.Callback):
    """Remembers the weights with the best mean recall."""

    def __init__(self, x, y, classes):
        super().__init__()
        self.x, self.y, self.classes = x, y, classes
        self.best = -1.0
        self.weights = None

    def on_train_batch_end(self, batch, logs=None):
        if batch % 4:
            return
        scores = self.model.predict(self.x, batch_size=128, verbose=0)  # planted
        guess = scores.argmax(axis=1)
        recall = np.mean([np.mean(guess[self.y == k] == k) for k in range(self.classes)])
        if recall > self.best:
            self.best = recall
            self.weights = self.model.get_weights()

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}: loss {logs['loss']:.4f}, best mean recall {self.best:.3f}")


def main(cfg):
    keras.utils.set_random_seed(cfg["seed"])
    tf.config.threading.set_inter_op_parallelism_threads(2)
    x, y = make_beats(cfg)
    cut = 256
    model = build(cfg)
    model.compile(
        optimizer=keras.optimizers.Adam(cfg["lr"]),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    watcher = BestRecall(x[:cut], y[:cut], cfg["classes"])
    model.fit(
        x[cut:], y[cut:], batch_size=cfg["batch_size"], epochs=cfg["epochs"],
        callbacks=[watcher], verbose=0,
    )
    model.set_weights(watcher.weights)
    print(f"kept the weights with recall {watcher.best:.3f}")


if __name__ == "__main__":
    main(CFG)
