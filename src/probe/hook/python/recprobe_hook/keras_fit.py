"""Hooks Keras' callbacks to record the steps and evaluations of fit()."""
from .threads import current, trainer
from .wrap import noting, replace


def patch(module):
    owner = getattr(module, 'CallbackList', None)
    if owner is None:
        return
    for name, call in _CALLS.items():
        replace(owner, name, noting(call, '%s of Keras was not recorded' % name))


_CALLS = {
    'on_train_begin': lambda callbacks: trainer().keras_begins('train'),
    'on_train_batch_begin': lambda callbacks: current().keras_batch_begins(),
    'on_train_batch_end': lambda callbacks: current().keras_batch_ended(),
    'on_train_end': lambda callbacks: current().keras_ends(),
    'on_test_begin': lambda callbacks: current().keras_begins('test'),
    'on_test_end': lambda callbacks: current().keras_ends(),
    'on_predict_begin': lambda callbacks: current().keras_begins('predict'),
    'on_predict_end': lambda callbacks: current().keras_ends(),
}
