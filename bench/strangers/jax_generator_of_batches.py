"""A training in JAX on batches of the program's own generator.

environment: jax; cause: training thread
"""
import jax
import jax.numpy as jnp
import numpy as np


def batches(count):
    for number in range(count):
        image = np.random.normal(size=(8, 150_000)).astype(np.float32)  # planted
        yield image[:, :512], np.arange(8) % 10


@jax.jit
def step(weights, image, label):
    def loss(w):
        scores = image @ w
        return -jnp.mean(jax.nn.log_softmax(scores)[jnp.arange(8), label])
    return weights - 0.01 * jax.grad(loss)(weights)


def main():
    weights = jnp.zeros((512, 10))
    for image, label in batches(150):
        weights = step(weights, image, label)
    print(float(weights.sum()))


if __name__ == '__main__':
    main()
