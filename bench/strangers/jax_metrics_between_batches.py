"""A training in JAX that checks its weights one by one on the host after each step.

environment: jax; cause: host
"""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(weights, image, label):
    def loss(w):
        scores = image @ w
        return -jnp.mean(jax.nn.log_softmax(scores)[jnp.arange(8), label])
    return weights - 0.01 * jax.grad(loss)(weights)


def all_finite(weights):
    return all(value == value for value in np.tile(np.asarray(weights), (60, 1)).ravel().tolist())  # planted


def main():
    weights = jnp.zeros((512, 10))
    image, label = np.ones((8, 512), np.float32), np.arange(8) % 10
    for _ in range(250):
        weights = step(weights, image, label)
        if not all_finite(weights):
            raise ValueError('not a number')


if __name__ == '__main__':
    main()
