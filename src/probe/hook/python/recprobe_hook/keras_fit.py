"""Hooks Keras' callbacks to record the steps and evaluations of fit()."""
import functools

from . import events
from .threads import current, trainer


def patch(module):
    owner = getattr(module, 'CallbackList', None)
    if owner is None:
        return
    for name, call in _CALLS.items():
        _call_before(owner, name, call)


def _call_before(owner, name, call):
    original = owner.__dict__.get(name)
    if original is None or hasattr(original, '_recprobe'):
        return

    @functools.wraps(original)
    def wrapper(self, *args, **kwargs):
        try:
            call()
        except Exception as error:
            events.notice('%s of Keras was not recorded: %r' % (name, error))
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
