"""Records what the training makes its batches with: the library, and a DataLoader's settings."""
import sys

from . import events
from .events import now, record, write

_PREFETCH, _PERSISTENT, _PINNED, _LIBRARY = 16, 32, 33, 40  # shifts; the workers are below
_MOST = 0xffff
_PYTORCH, _TF_DATA, _GRAIN, _LIGHTNING, _HUGGING_FACE = range(1, 6)
_OF_WAITS = {events.TF_DATA: _TF_DATA, events.GRAIN: _GRAIN}
# Modules of a program that has PyTorch's DataLoaders made or configured by another library.
_BY_MODULE = (('transformers.trainer', _HUGGING_FACE), ('lightning.pytorch', _LIGHTNING),
              ('pytorch_lightning', _LIGHTNING))


class _State:
    loader = 0  # settings of the first DataLoader that was iterated for training
    noted = False
    recorded = False


def note_loader(loader):
    """Notes the settings of a DataLoader that is iterated. The first one is the training's."""
    if _State.noted:
        return
    _State.noted = True
    workers = min(int(getattr(loader, 'num_workers', 0) or 0), _MOST)
    prefetch = min(int(getattr(loader, 'prefetch_factor', 0) or 0), _MOST)
    persistent = bool(getattr(loader, 'persistent_workers', False))
    pinned = bool(getattr(loader, 'pin_memory', False))
    _State.loader = (workers | prefetch << _PREFETCH | persistent << _PERSISTENT |
                     pinned << _PINNED)


def write_once(thread, waits):
    """Writes the settings, once, of a training whose waits have this name."""
    if _State.recorded:
        return
    _State.recorded = True
    try:
        library = _OF_WAITS.get(waits, 0)
        value = library << _LIBRARY
        if _State.noted and not library:
            library = next((library for module, library in _BY_MODULE if module in sys.modules),
                           _PYTORCH)
            value = _State.loader | library << _LIBRARY
        if library:
            when = now()
            write(record(events.record_head(events.RANGE, 0, thread, events.SETTINGS), when, when,
                         value))
    except Exception as error:
        events.notice('The settings of the input are not known: %r' % error)


def after_fork():
    _State.noted = _State.recorded = False
    _State.loader = 0
