"""Keras with a LambdaCallback that adds each batch's logs to a history and writes the whole history again.

environment: tf; cause: host
"""
import argparse
import json
import os
import tempfile

import keras
import numpy as np


class HistoryFile:
    """A history that outlives restarts: it goes on from the file of the last run."""

    def __init__(self, path):
        self.path = path
        self.records = []
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                self.records = json.load(file)

    def add(self, batch, logs):
        self.records.append({'batch': batch, **{name: float(value) for name, value in logs.items()}})
        self.write()

    def write(self):
        temporary = self.path + '.tmp'
        with open(temporary, 'w', encoding='utf-8') as file:
            json.dump(self.records, file, indent=2, sort_keys=True)  # planted
        os.replace(temporary, self.path)


def build_model(features):
    inputs = keras.Input((features,))
    x = keras.layers.Dense(128, activation='relu')(inputs)
    x = keras.layers.Dropout(0.1)(x)
    x = keras.layers.Dense(64, activation='relu')(x)
    outputs = keras.layers.Dense(1, activation='sigmoid')(x)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss='binary_crossentropy',
                  metrics=['accuracy', keras.metrics.AUC(name='auc', num_thresholds=50)])
    return model


def write_table(path, rows=16_000, features=64):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((rows, features), np.float32)
    target = (table[:, :4].sum(1) + rng.standard_normal(rows) > 0).astype(np.float32)
    np.savez(path, x=table, y=target)


def write_last_history(path, batches):
    rng = np.random.default_rng(1)
    records = [{'batch': number, 'loss': loss, 'accuracy': accuracy, 'auc': auc}
               for number, (loss, accuracy, auc) in enumerate(rng.random((batches, 3)).tolist())]
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(records, file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=64)
    parser.add_argument('--epochs', type=int, default=2)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, 'clicks.npz')
        write_table(table)
        write_last_history(os.path.join(folder, 'history.json'), 600)
        with np.load(table) as data:
            x, y = data['x'], data['y']
        history = HistoryFile(os.path.join(folder, 'history.json'))
        callbacks = [keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: history.add(batch, logs)),
                     keras.callbacks.TerminateOnNaN()]
        model = build_model(x.shape[1])
        model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, callbacks=callbacks, verbose=2)
        print(len(history.records), 'records')


if __name__ == '__main__':
    main()
