"""A training in JAX whose batches two threads of a ThreadPoolExecutor make ahead, turning pictures by scipy.

environment: jax; cause: user function, augment
"""
import argparse
import collections
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from scipy import ndimage


def make_batch(pictures, size, seed):
    random = np.random.default_rng(seed)
    chosen = random.integers(0, len(pictures), size)
    turned = [ndimage.rotate(pictures[i], random.uniform(-20, 20), reshape=False, order=3)  # planted
              for i in chosen]
    return np.stack(turned)[:, ::4, ::4].reshape(size, -1), chosen % 10


def prefetched(pictures, size, steps, ahead=4):
    with ThreadPoolExecutor(max_workers=2) as pool:
        pending = collections.deque()
        for seed in range(steps):
            pending.append(pool.submit(make_batch, pictures, size, seed))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def init(key, sizes):
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        key, used = jax.random.split(key)
        layers.append({'w': jax.random.normal(used, (fan_in, fan_out)) * fan_in ** -0.5, 'b': jnp.zeros(fan_out)})
    return layers


def loss_of(params, x, y):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer['w'] + layer['b'])
    logits = x @ params[-1]['w'] + params[-1]['b']
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


@jax.jit
def adam_step(params, mean, square, count, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, grads)
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / (1 - 0.9 ** count)) /
                          (jnp.sqrt(v / (1 - 0.999 ** count)) + 1e-8), params, mean, square)
    return params, mean, square, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch', type=int, default=12)
    parser.add_argument('--steps', type=int, default=140)
    args = parser.parse_args()
    pictures = np.random.default_rng(0).random((64, 208, 208), np.float32)
    params = init(jax.random.PRNGKey(0), [52 * 52, 512, 256, 10])
    mean, square = jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params)
    for count, (x, y) in enumerate(prefetched(pictures, args.batch, args.steps), 1):
        params, mean, square, loss = adam_step(params, mean, square, float(count), x, y)
        if count % 35 == 0:
            print(f'{count}: {float(loss):.3f}')


if __name__ == '__main__':
    main()
