"""Fake of the parts of PyTorch that the hook uses, for tests without PyTorch."""
import contextlib

_gradients = [True]


def is_grad_enabled():
    return _gradients[-1]


@contextlib.contextmanager
def no_grad():
    _gradients.append(False)
    try:
        yield
    finally:
        _gradients.pop()


from . import compiler, optim, utils  # noqa: E402,F401
