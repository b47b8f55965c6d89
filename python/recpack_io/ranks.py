"""Ranks: the place of this process among those of a training."""
from __future__ import annotations

import os
import sys

# The first pair that is set applies: torchrun, Open MPI, other MPIs, Slurm.
_LAUNCHERS = (('RANK', 'WORLD_SIZE'), ('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'),
              ('PMI_RANK', 'PMI_SIZE'), ('SLURM_PROCID', 'SLURM_STEP_NUM_TASKS'))


def _in_jax_distributed() -> bool:
    """Tells whether jax.distributed is in use, without querying devices, which would open them."""
    distributed = getattr(sys.modules.get('jax'), 'distributed', None)
    if distributed is None:
        return False
    if hasattr(distributed, 'is_initialized'):
        return distributed.is_initialized()
    state = getattr(sys.modules.get('jax._src.distributed'), 'global_state', None)  # JAX before 0.5
    return getattr(state, 'client', None) is not None


def place_of_process() -> tuple[int, int]:
    """Returns rank and world size.

    They are taken from torch.distributed or jax.distributed if that is in use, otherwise from the
    launcher's environment variables. Default: (0, 1).
    """
    torch = sys.modules.get('torch')
    distributed = getattr(torch, 'distributed', None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    if _in_jax_distributed():
        jax = sys.modules['jax']
        return jax.process_index(), jax.process_count()
    for rank, size in _LAUNCHERS:
        if os.environ.get(rank) and os.environ.get(size):
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1
