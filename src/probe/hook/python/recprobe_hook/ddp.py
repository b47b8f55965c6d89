"""Hooks PyTorch's DistributedDataParallel."""
from . import exchange
from .wrap import replace


def patch(module):
    replace(module.DistributedDataParallel, '__init__', _watching)


def _watching(init):
    def __init__(self, *args, **kwargs):
        init(self, *args, **kwargs)
        exchange.watch(self)

    return __init__
