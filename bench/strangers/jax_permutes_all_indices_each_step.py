"""Gradient boosting rival on tabular records in plain JAX that permutes all the row numbers to choose every mini-batch.

environment: jax; cause: training thread, host
"""
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

ROWS = 60_000
COLUMNS = 32
BATCH = 512
STEPS = 320
LAYERS = (COLUMNS, 192, 192, 1)


def make_table(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    y = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(ROWS)
    return jnp.asarray(x), jnp.asarray(y.astype(np.float32))


def init_params(key):
    params = []
    for n_in, n_out in zip(LAYERS[:-1], LAYERS[1:]):
        key, sub = jax.random.split(key)
        params.append({
            "w": jax.random.normal(sub, (n_in, n_out)) * jnp.sqrt(2.0 / n_in),
            "b": jnp.zeros(n_out),
        })
    return params


def predict(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"]).squeeze(-1)


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(params, m, v, t, x, y, lr=1e-3):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)

    def move(p, m, v):
        return p - lr * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)

    return jax.tree.map(move, params, m, v), m, v, loss


def draw_batch(key, x, y):
    chosen = np.asarray(jax.random.permutation(key, len(x)))[:BATCH]  # planted
    return x[chosen], y[chosen]


def main():
    key = jax.random.key(0)
    x, y = make_table()
    key, sub = jax.random.split(key)
    params = init_params(sub)
    m = jax.tree.map(jnp.zeros_like, params)
    v = jax.tree.map(jnp.zeros_like, params)
    started = time.time()
    for step in range(1, STEPS + 1):
        key, sub = jax.random.split(key)
        bx, by = draw_batch(sub, x, y)
        params, m, v, loss = train_step(params, m, v, step, bx, by)
        if step % 40 == 0:
            print(f"step {step}: mse {float(loss):.4f} after {time.time() - started:.1f}s")


if __name__ == "__main__":
    main()
