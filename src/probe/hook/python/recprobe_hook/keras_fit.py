"""Keras' fit: its callbacks tell when a step ends, and when it evaluates."""
import functools

from . import events
from .threads import current, trainer


def patch(module):
    owner = getattr(module, 'CallbackList', None)
    if owner is None:
        return
    for name, tell in _CALLS.items():
        _before(owner, name, tell)


def _before(owner, name, tell):
    original = owner.__dict__.get(name)
    if original is None or hasattr(original, '_recprobe'):
        return

    @functools.wraps(original)
    def wrapper(self, *args, **kwargs):
        try:
            tell()
        except Exception as error:
            events.tell('%s of Keras was not told: %r' % (name, error))
        return original(self, *args, **kwargs)

    wrapper._recprobe = True
    setattr(owner, name, wrapper)


_CALLS = {
    'on_train_begin': lambda: trainer().keras_begins('train'),
    'on_train_batch_begin': lambda: current().keras_batch_begins(),
    'on_train_batch_end': lambda: current().keras_batch_ended(),
    'on_train_end': lambda: current().keras_ends(),
    'on_test_begin': lambda: current().keras_begins('test'),
    'on_test_end': lambda: current().keras_ends(),
    'on_predict_begin': lambda: current().keras_begins('predict'),
    'on_predict_end': lambda: current().keras_ends(),
}
