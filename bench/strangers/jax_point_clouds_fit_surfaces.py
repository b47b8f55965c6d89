"""A PointNet in JAX on clouds without normals: a chain of generators estimates them from each point's neighbours.

environment: jax; cause: user function, training thread
"""
import argparse
import os
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial import cKDTree


class NormalEstimator:
    """Fits z = a + bx + cy + dxx + exy + fyy to each point's neighbours."""

    def __init__(self, neighbours=24):
        self.neighbours = neighbours

    def directions(self, patches):
        x, y, z = np.moveaxis(patches - patches[:, :1], 2, 0)
        terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)
        surface = np.linalg.pinv(terms) @ z[..., None]  # planted
        normals = np.concatenate([-surface[:, 1:3, 0], np.ones((len(x), 1))], 1)
        return normals / np.linalg.norm(normals, axis=1, keepdims=True)

    def __call__(self, cloud):
        _, near = cKDTree(cloud).query(cloud, k=self.neighbours)
        return self.directions(cloud[near])


class Scale:
    def __init__(self, rng, low=0.8, high=1.25):
        self.rng, self.low, self.high = rng, low, high

    def __call__(self, sample):
        return {**sample, 'points': sample['points'] * self.rng.uniform(self.low, self.high, 3)}


class WithNormals:
    def __init__(self, estimator):
        self.estimator = estimator

    def __call__(self, sample):
        normals = self.estimator(sample['points'])
        return {**sample, 'points': np.concatenate([sample['points'], normals], 1).astype(np.float32)}


def read(folder, rng):
    names = os.listdir(folder)
    while True:
        for number in rng.permutation(len(names)):
            with np.load(os.path.join(folder, names[number])) as file:
                yield {'points': file['points'], 'label': int(file['label'])}


def transformed(samples, *transforms):
    for transform in transforms:
        samples = map(transform, samples)
    return samples


def batched(samples, size):
    while True:
        group = [next(samples) for _ in range(size)]
        yield np.stack([s['points'] for s in group]), np.array([s['label'] for s in group])


def init(key, sizes=(6, 32, 64)):
    keys = jax.random.split(key, 3)
    return [jax.random.normal(keys[0], sizes[:2]) * 0.3, jax.random.normal(keys[1], sizes[1:]) * 0.2,
            jax.random.normal(keys[2], (sizes[2], 10)) * 0.1]


@jax.jit
def update(params, points, labels):
    def loss_fn(params):
        hidden = jax.nn.relu(jax.nn.relu(points @ params[0]) @ params[1])
        logits = jax.nn.log_softmax(hidden.max(1) @ params[2])
        return -jnp.take_along_axis(logits, labels[:, None], 1).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return [p - 0.05 * g for p, g in zip(params, grads)], loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--steps', type=int, default=80)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(96):
            points = rng.standard_normal((512, 3)) * (1, 1, 0.1 * (number % 10))
            np.savez(os.path.join(folder, f'{number:03}.npz'), points=points, label=number % 10)
        samples = transformed(read(folder, rng), Scale(rng), WithNormals(NormalEstimator()))
        params = init(jax.random.PRNGKey(0))
        for step, (points, labels) in zip(range(args.steps), batched(samples, args.batch_size)):
            params, loss = update(params, points, labels)
            if step % 20 == 0:
                print(f'{step:4d} loss {loss:.4f}')


if __name__ == '__main__':
    main()
