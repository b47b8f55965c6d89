"""What the hook touches of PyTorch, for tests where it is not installed."""
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
