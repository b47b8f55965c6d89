"""Trains a linear classifier with JAX."""
import grain
import jax
import jax.numpy as jnp
import numpy as np
from torchvision.datasets import CIFAR10


@jax.jit
def step(weights, images, labels):
    def loss(weights):
        logits = images.reshape(-1, 3072) / 255 @ weights
        return -jax.nn.log_softmax(logits)[jnp.arange(len(logits)), labels].mean()
    value, gradient = jax.value_and_grad(loss)(weights)
    return weights - 1e-3 * gradient, value


weights = jnp.zeros((3072, 10))
dataset = grain.MapDataset.source(CIFAR10("cifar", transform=np.asarray))
for epoch in range(2):
    for images, labels in dataset.shuffle(seed=epoch).batch(16):
        weights, loss = step(weights, images, labels)
    print(f"epoch {epoch}: loss {loss:.3f}")
