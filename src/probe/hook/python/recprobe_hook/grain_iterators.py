"""Times Grain's iterators. Waits of nested iterators count as part of the outer one's."""
from . import events
from .wrap import How, time_method

_DATASET = How(events.GRAIN)
_LOADER = How(events.GRAIN, lambda iterator: getattr(iterator, '_data_loader', None))


def patch(module):
    if hasattr(module, 'DataLoaderIterator'):
        time_method(module.DataLoaderIterator, '__next__', _LOADER)
    base = getattr(module, 'DatasetIterator', None)
    if base is None or '__init_subclass__' in base.__dict__:
        return

    def __init_subclass__(cls, **kwargs):
        super(base, cls).__init_subclass__(**kwargs)
        time_method(cls, '__next__', _DATASET)

    base.__init_subclass__ = classmethod(__init_subclass__)
    for cls in _subclasses(base):
        time_method(cls, '__next__', _DATASET)


def _subclasses(base):
    for cls in base.__subclasses__():
        yield cls
        for below in _subclasses(cls):
            yield below
