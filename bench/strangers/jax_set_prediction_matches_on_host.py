"""Prediction of sets as in DETR, in JAX: between the two compiled functions the host matches queries with targets.

environment: jax; cause: host
"""
import argparse
import os
import tempfile
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import linear_sum_assignment

QUERIES, TARGETS, CLASSES = 120, 100, 8


def init(key, width=64):
    keys = jax.random.split(key, 4)
    return {'stem': jax.random.normal(keys[0], (32, width)) * 0.1,
            'query': jax.random.normal(keys[1], (QUERIES, width)),
            'label': jax.random.normal(keys[2], (width, CLASSES)) * 0.1,
            'box': jax.random.normal(keys[3], (width, 4)) * 0.1}


def predict(params, features):
    hidden = jax.nn.relu((features @ params['stem'])[:, None] + params['query'])
    return hidden @ params['label'], jax.nn.sigmoid(hidden @ params['box'])


@jax.jit
def match_cost(params, batch):
    logits, boxes = predict(params, batch['features'])
    names = jax.nn.softmax(logits)[:, :, None, :]
    picked = jnp.take_along_axis(names, batch['labels'][:, None, :, None], axis=-1)[..., 0]
    return 5 * jnp.abs(boxes[:, :, None] - batch['boxes'][:, None]).sum(-1) - picked


@partial(jax.jit, donate_argnums=0)
def train_step(params, batch, rows, columns):
    def loss_fn(params):
        logits, boxes = predict(params, batch['features'])
        logits = jnp.take_along_axis(logits, rows[..., None], 1)
        boxes = jnp.take_along_axis(boxes, rows[..., None], 1)
        labels = jnp.take_along_axis(batch['labels'], columns, 1)
        wanted = jnp.take_along_axis(batch['boxes'], columns[..., None], 1)
        named = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
        return -named.mean() + 5 * jnp.abs(boxes - wanted).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


class HungarianMatcher:
    def __call__(self, cost):
        pairs = [linear_sum_assignment(matrix) for matrix in np.asarray(cost)]  # planted
        rows, columns = zip(*pairs)
        return np.stack(rows).astype(np.int32), np.stack(columns).astype(np.int32)


def batches(path, batch_size, epochs):
    with np.load(path) as data:
        data = dict(data)
    rng = np.random.default_rng(1)
    for _ in range(epochs):
        order = rng.permutation(len(data['labels']))
        for start in range(0, len(order) - batch_size + 1, batch_size):
            chosen = order[start:start + batch_size]
            yield {key: value[chosen] for key, value in data.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--epochs', type=int, default=16)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'train.npz')
        rng = np.random.default_rng(0)
        np.savez(path, features=rng.standard_normal((512, 32), np.float32),
                 labels=rng.integers(0, CLASSES, (512, TARGETS), np.int32),
                 boxes=rng.random((512, TARGETS, 4), np.float32))
        params = init(jax.random.PRNGKey(0))
        matcher = HungarianMatcher()
        for step, batch in enumerate(batches(path, args.batch_size, args.epochs)):
            rows, columns = matcher(match_cost(params, batch))
            params, loss = train_step(params, batch, rows, columns)
            if step % 50 == 0:
                print(f'step {step} loss {float(loss):.4f}')


if __name__ == '__main__':
    main()
