"""Samples the main thread of PyTorch's DataLoader workers."""
import functools

from . import input_work


_COUNT_AT = 11  # place of num_workers among the arguments


def _count(args, kwargs):
    count = kwargs.get('num_workers', args[_COUNT_AT] if len(args) > _COUNT_AT else 1)
    return count if isinstance(count, int) else 1


def patch(module):
    work = module._worker_loop
    if hasattr(work, '_recprobe'):
        return

    @functools.wraps(work)
    def _worker_loop(*args, **kwargs):
        input_work.watch_worker(_count(args, kwargs))
        return work(*args, **kwargs)

    _worker_loop._recprobe = True
    module._worker_loop = _worker_loop
