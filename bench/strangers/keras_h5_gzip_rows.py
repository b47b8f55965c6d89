"""A PyDataset that reads single rows of an HDF5 file whose chunks are packed by gzip.

environment: tf; cause: user function, decompression, interpreter lock
"""
import argparse
import os
import tempfile

import h5py
import keras
import numpy as np


class SpectraSequence(keras.utils.PyDataset):
    def __init__(self, path, batch_size, steps, **kwargs):
        super().__init__(**kwargs)
        self.file = h5py.File(path, 'r')
        self.spectra, self.labels = self.file['spectra'], self.file['labels'][:]
        self.batch_size, self.steps = batch_size, steps

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        rows = [(index * self.batch_size + k) % len(self.labels) for k in range(self.batch_size)]
        x = np.stack([self.spectra[row][:1024] for row in rows])  # planted
        return x.astype(np.float32) / 63, self.labels[rows]


def write(path, rows, width):
    random = np.random.default_rng(0)
    with h5py.File(path, 'w') as file:
        # No cache of chunks helps: a chunk is a row, and an epoch is longer than the cache.
        spectra = file.create_dataset('spectra', (rows, width), 'u1', chunks=(1, width), compression='gzip',
                                      compression_opts=1)
        for row in range(rows):
            spectra[row] = random.integers(0, 64, width, np.uint8)
        file['labels'] = np.arange(rows) % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=8)
    parser.add_argument('--steps', type=int, default=110)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'spectra.h5')
        write(path, 48, 1_200_000)
        model = keras.Sequential([keras.Input((1024,)), keras.layers.Dense(1024, activation='relu'),
                                  keras.layers.Dense(512, activation='relu'), keras.layers.Dense(10)])
        model.compile(optimizer='adam', loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        sequence = SpectraSequence(path, args.batch_size, args.steps, workers=2, max_queue_size=4)
        model.fit(sequence, epochs=1, verbose=2)
        sequence.file.close()


if __name__ == '__main__':
    main()
