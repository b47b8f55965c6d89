"""Trains a linear classifier with JAX."""
import jax
import jax.numpy as jnp
from recpack_io.jax import Loader


@jax.jit
def step(weights, batch):
    def loss(weights):
        logits = batch["image"].reshape(-1, 3072) @ weights
        return -jax.nn.log_softmax(logits)[jnp.arange(len(logits)), batch["label"]].mean()
    value, gradient = jax.value_and_grad(loss)(weights)
    return weights - 1e-3 * gradient, value


weights = jnp.zeros((3072, 10))
loader = Loader("shards", "cifar10-train", batch_size=16)
for epoch in range(2):
    for batch in loader:
        weights, loss = step(weights, batch)
    print(f"epoch {epoch}: loss {loss:.3f}")
