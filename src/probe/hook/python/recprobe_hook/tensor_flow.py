"""Times tf.data's iterators in eager mode. Within a tf.function TensorFlow runs them itself."""
from . import events
from .settings import note_map
from .wrap import How, noting, replace, time_method

_ITERATORS = ('OwnedIterator', 'NumpyIterator', '_NumpyIterator', 'DistributedIteratorBase',
              'DistributedIterator')


def patch(module):
    if hasattr(module, 'DatasetV2'):
        replace(module.DatasetV2, 'map', noting(note_map, 'Where Dataset.map is called is not known'))
    from tensorflow.python.eager import context
    eager = context.executing_eagerly

    def applies(_):
        if eager():
            return True
        events.notice('Batches are taken inside a tf.function: these waits are not seen.')
        return False

    how = How(events.TF_DATA, lambda iterator: getattr(iterator, '_dataset', None),
              applies=applies)
    for name in _ITERATORS:
        owner = getattr(module, name, None)
        for method in ('__next__', 'get_next'):
            if owner is not None:
                time_method(owner, method, how)
