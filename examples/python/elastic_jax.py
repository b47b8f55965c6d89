"""Trains with JAX on any number of processes: started again with more or fewer, it goes on in the middle of the epoch.

    srun python examples/python/elastic_jax.py SHARDS --checkpoint FILE

JAX stops when a process is lost: Slurm or Kubernetes then ends the others, and starts the job anew with the nodes that
there are. The loader's state may be resumed by any number of processes; the global batch stays the same. Arrays are global,
as MaxText has them: each process contributes its share of the batch. The audit proves at the end of each epoch that no
sample was lost or came twice.
"""
import argparse
import os
import pathlib
import pickle
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import recpack_io
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from recpack_io.jax import Loader

RATE = 1e-3


def loss_of(model: dict, batch: dict, mask: jax.Array) -> jax.Array:
    scores = jax.nn.log_softmax(batch['image'].reshape(len(mask), -1) @ model['weights'] + model['bias'])
    losses = -jnp.take_along_axis(scores, batch['label'][:, None], 1)[:, 0]
    return (losses * mask).sum() / len(mask)


@partial(jax.jit, donate_argnums=0)
def train_step(model: dict, batch: dict, mask: jax.Array) -> tuple[dict, jax.Array]:
    loss, gradient = jax.value_and_grad(loss_of)(model, batch, mask)
    return jax.tree.map(lambda value, slope: value - RATE * slope, model, gradient), loss


def save(path: pathlib.Path, state: tuple) -> None:
    """Atomic: a process may be killed while it writes."""
    if jax.process_index() == 0:
        path.with_suffix('.part').write_bytes(pickle.dumps(state))
        os.replace(path.with_suffix('.part'), path)
    multihost_utils.sync_global_devices('saved')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('shards')
    parser.add_argument('--checkpoint', type=pathlib.Path, required=True)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--global-batch', type=int, default=64)
    parser.add_argument('--save-every', type=int, default=20, help='steps')
    parser.add_argument('--coordinator', help='HOST:PORT of the first process; Slurm, Open MPI and Kubernetes tell it')
    parser.add_argument('--processes', type=int)
    parser.add_argument('--process', type=int)
    options = parser.parse_args()

    if options.processes != 1:
        jax.distributed.initialize(options.coordinator, options.processes, options.process)
    processes = jax.process_count()
    mesh = Mesh(np.array(jax.devices()), ('batch',))
    everywhere = NamedSharding(mesh, PartitionSpec())
    dataset = recpack_io.open(options.shards)
    # Filled up, so that the last step of an epoch has all that is left, for any number of processes.
    loader = Loader(dataset, 'cifar10-train', batch_size=options.global_batch // processes, seed=1, last_batch='pad',
                    device=NamedSharding(mesh, PartitionSpec('batch')))
    model = {'weights': np.zeros((3072, 10), np.float32), 'bias': np.zeros(10, np.float32)}
    epoch, before, loss = 0, '', float('nan')
    if options.checkpoint.exists():
        model, state, epoch, before = pickle.loads(options.checkpoint.read_bytes())
        loader.load_state_dict(state | {'audit': ''})
    model = jax.tree.map(partial(jax.make_array_from_process_local_data, everywhere), model)

    for epoch in range(epoch, options.epochs):
        for step, batch in enumerate(loader, 1):
            model, loss = train_step(model, dict(batch), batch.mask)
            if step % options.save_every == 0:
                audit = str(loader.gather_audit(before))
                save(options.checkpoint, (jax.device_get(model), loader.state_dict(), epoch, audit))
        report = loader.gather_audit(before).check(dataset)
        before = ''
        if jax.process_index() == 0:
            print(f'epoch {epoch}: {processes} processes at its end, {report.samples} of {report.epoch_samples} samples, '
                  f'each once: {report.complete}, loss {loss:.3f}', flush=True)


if __name__ == '__main__':
    main()
