"""Samples the main thread of PyTorch's DataLoader workers."""
import functools

from . import input_work


def patch(module):
    work = module._worker_loop
    if hasattr(work, '_recprobe'):
        return

    @functools.wraps(work)
    def _worker_loop(*args, **kwargs):
        input_work.watch_worker()
        return work(*args, **kwargs)

    _worker_loop._recprobe = True
    module._worker_loop = _worker_loop
