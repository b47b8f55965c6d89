"""A callback of Keras that writes the weights to an HDF5 file after each batch.

environment: tf; cause: host
"""
import os
import tempfile

import keras
import numpy as np


class KeepLatest(keras.callbacks.Callback):
    """So that no step is lost when the machine is taken away."""

    def __init__(self, folder):
        super().__init__()
        self.target = os.path.join(folder, 'latest.weights.h5')
        self.draft = os.path.join(folder, 'draft.weights.h5')

    def on_train_batch_end(self, batch, logs=None):
        self.model.save_weights(self.draft, overwrite=True)  # planted
        os.replace(self.draft, self.target)


def build_model():
    inputs = keras.Input((512,))
    x = keras.layers.Dense(1024, activation='relu')(inputs)
    x = keras.layers.Dense(2048, activation='relu')(x)
    return keras.Model(inputs, keras.layers.Dense(10, activation='softmax')(x))


def main():
    keras.utils.set_random_seed(0)
    x = np.random.rand(16 * 140, 512).astype('float32')
    y = np.random.randint(0, 10, len(x))
    model = build_model()
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss='sparse_categorical_crossentropy',
                  metrics=['accuracy'])
    with tempfile.TemporaryDirectory() as folder:
        model.fit(x, y, batch_size=16, epochs=1, verbose=2, callbacks=[KeepLatest(folder)])


if __name__ == '__main__':
    main()
