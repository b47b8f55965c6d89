"""Trains a small convolutional network on CIFAR-10 with JAX, on all devices of this process.

    recpack pack cifar-10-python.tar.gz shards
    python cifar10_jax.py shards

Killed at any time, it goes on behind its last checkpoint, and ends as if it had not been.
"""
import argparse
import os
import pathlib
import pickle

import jax
import jax.numpy as jnp
import recpack_io
from jax import lax
from recpack_io.jax import Loader

WIDTHS = (3, 32, 64, 128)
RATE, MOMENTUM = 0.02, 0.9


def initial():
    keys = jax.random.split(jax.random.key(1), len(WIDTHS))
    normal = jax.nn.initializers.he_normal()
    kernels = [normal(key, (3, 3, *widths)) for key, *widths in zip(keys, WIDTHS, WIDTHS[1:])]
    return {'kernels': kernels, 'out': normal(keys[-1], (16 * WIDTHS[-1], 10)) / 10,
            'biases': [jnp.zeros(width) for width in (*WIDTHS[1:], 10)]}


def logits(model, images):
    for kernel, bias in zip(model['kernels'], model['biases']):
        images = lax.conv_general_dilated(images, kernel, (1, 1), 'SAME',
                                          dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        images = lax.reduce_window(jax.nn.relu(images + bias), -jnp.inf, lax.max, (1, 2, 2, 1),
                                   (1, 2, 2, 1), 'VALID')
    return images.reshape(len(images), -1) @ model['out'] + model['biases'][-1]


def loss_of(model, images, labels):
    shares = jax.nn.log_softmax(logits(model, images))
    return -jnp.take_along_axis(shares, labels[:, None], 1).mean()


@jax.jit
def train_step(model, velocity, images, labels):
    loss, gradient = jax.value_and_grad(loss_of)(model, images, labels)
    velocity = jax.tree.map(lambda v, g: MOMENTUM * v - RATE * g, velocity, gradient)
    return jax.tree.map(jnp.add, model, velocity), velocity, loss


@jax.jit
def right(model, images, labels):
    return (logits(model, images).argmax(1) == labels).sum()


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument('shards')
    flags.add_argument('--epochs', type=int, default=10)
    flags.add_argument('--batch-size', type=int, default=128)
    flags.add_argument('--checkpoint', type=pathlib.Path, default='cifar10_jax.pickle')
    flags.add_argument('--save-every', type=int, default=100, help='steps')
    given = flags.parse_args()

    def loader(recipe, **options):
        fields = recpack_io.recipe(f'cifar10-{recipe}', layout='nhwc')
        return Loader(recpack_io.open(given.shards, split=recipe), fields=fields, seed=1,
                      batch_size=given.batch_size, device=jax.local_devices(), **options)

    train, held_out = loader('train'), loader('eval', last_batch='drop')
    model = initial()
    velocity = jax.tree.map(jnp.zeros_like, model)
    epoch = step = 0
    if given.checkpoint.exists():
        model, velocity, state, epoch, step = pickle.loads(given.checkpoint.read_bytes())
        train.load_state_dict(state)
        print(f'goes on behind step {step}', flush=True)

    for epoch in range(epoch, given.epochs):
        train.set_epoch(epoch)
        for batch in train:
            model, velocity, loss = train_step(model, velocity, batch['image'], batch['label'])
            step += 1
            if step % given.save_every == 0 and not recpack_io.is_gain_run():
                print(f'epoch {epoch} step {step} loss {loss:.6f}', flush=True)
                saved = jax.device_get((model, velocity)) + (train.state_dict(), epoch, step)
                pathlib.Path(f'{given.checkpoint}.part').write_bytes(pickle.dumps(saved))
                os.replace(f'{given.checkpoint}.part', given.checkpoint)
        hits = sum(int(right(model, batch['image'], batch['label'])) for batch in held_out)
        print(f'epoch {epoch} accuracy {hits / (len(held_out) * given.batch_size):.2%}', flush=True)


if __name__ == '__main__':
    main()
