"""Runs torch's random functions with a given generator."""
from __future__ import annotations

import torch
from torch.overrides import TorchFunctionMode


def _there(owner, *names: str) -> set:
    return {getattr(owner, name) for name in names if hasattr(owner, name)}


# Functions that accept `generator`. Others, such as dropout, use the process's generator.
_DRAWING = _there(torch, 'rand', 'randn', 'randint', 'randperm', 'normal', 'bernoulli', 'binomial',
                  'multinomial', 'poisson', '_sample_dirichlet', '_standard_gamma') \
    | _there(torch.Tensor, 'bernoulli', 'bernoulli_', 'cauchy_', 'exponential_', 'geometric_',
             'log_normal_', 'multinomial', 'normal_', 'random_', 'uniform_')


def _rand_like(like, *, generator, **kwargs):
    return torch.empty_like(like, **kwargs).uniform_(generator=generator)


def _randn_like(like, *, generator, **kwargs):
    return torch.empty_like(like, **kwargs).normal_(generator=generator)


_LIKE = {torch.rand_like: _rand_like, torch.randn_like: _randn_like}


def _on_cpu(args, kwargs) -> bool:
    device = kwargs.get('device')
    if device is None:
        device = next((each.device for each in args if isinstance(each, torch.Tensor)), 'cpu')
    return torch.device(device).type == 'cpu'


class Draws(TorchFunctionMode):
    """Context in which this thread's draws on the CPU use a generator with this seed.

    The numbers are those after torch.manual_seed(seed). Other threads and torch's own generator are
    not affected.
    """

    def __init__(self, seed: int):
        super().__init__()
        self._generator = torch.Generator()
        self._generator.manual_seed(seed)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func not in _DRAWING and func not in _LIKE:
            return func(*args, **kwargs)
        if kwargs.get('generator') is not None or not _on_cpu(args, kwargs):
            return func(*args, **kwargs)
        return _LIKE.get(func, func)(*args, **{**kwargs, 'generator': self._generator})
