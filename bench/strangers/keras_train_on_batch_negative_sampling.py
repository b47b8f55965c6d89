"""A recommender in Keras that draws the negatives of each batch in Python, looking through each user's history, before train_on_batch.

environment: tf; cause: training thread, host
"""
import random

import keras
from keras import layers
import numpy as np

USERS, ITEMS, FACTORS = 1500, 4000, 16
POSITIVES, NEGATIVES = 192, 20


class Interactions:
    """What each user has looked at, in order of time."""

    def __init__(self, length=700):
        rng = np.random.default_rng(0)
        self.histories = rng.integers(0, ITEMS, (USERS, length)).tolist()

    def positive(self):
        user = random.randrange(USERS)
        return user, random.choice(self.histories[user])

    def negative(self, user):
        item = random.randrange(ITEMS)
        while item in self.histories[user]:  # planted
            item = random.randrange(ITEMS)
        return item


def sample_batch(data):
    users, items, labels = [], [], []
    for _ in range(POSITIVES):
        user, item = data.positive()
        users.append(user)
        items.append(item)
        labels.append(1.)
        for _ in range(NEGATIVES):
            users.append(user)
            items.append(data.negative(user))  # planted
            labels.append(0.)
    return np.array(users, np.int32), np.array(items, np.int32), np.array(labels, np.float32)


def neural_matrix_factorisation():
    user, item = keras.Input((), dtype='int32', name='user'), keras.Input((), dtype='int32', name='item')
    u = layers.Embedding(USERS, FACTORS)(user)
    i = layers.Embedding(ITEMS, FACTORS)(item)
    joined = layers.Concatenate()([layers.Multiply()([u, i]), u, i])
    score = layers.Dense(1)(layers.Dense(16, activation='relu')(joined))
    return keras.Model([user, item], score)


def main(steps=150):
    keras.utils.set_random_seed(1)
    data = Interactions()
    model = neural_matrix_factorisation()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
    for step in range(steps):
        users, items, labels = sample_batch(data)  # planted
        loss = model.train_on_batch([users, items], labels)
        if step % 50 == 49:
            print(f'{step + 1:5d}  loss {float(loss):.4f}')


if __name__ == '__main__':
    main()
