"""Records what the training makes its batches with: the library, a DataLoader's settings, and where the
program makes it."""
import itertools
import sys
import weakref

from . import events
from .events import now, record, write
from .places import absolute, is_program

_PREFETCH, _PERSISTENT, _PINNED, _MADE, _LIBRARY = 16, 32, 33, 34, 40  # shifts; the workers are below
_MOST, _MOST_MADE = 0xffff, 63
_PYTORCH, _TF_DATA, _GRAIN, _LIGHTNING, _HUGGING_FACE = range(1, 6)
_OF_WAITS = {events.TF_DATA: _TF_DATA, events.GRAIN: _GRAIN}
# Modules of a program that has PyTorch's DataLoaders made or configured by another library.
_BY_MODULE = (('transformers.trainer', _HUGGING_FACE), ('lightning.pytorch', _LIGHTNING),
              ('pytorch_lightning', _LIGHTNING))


class _State:
    loader = 0  # settings of the first DataLoader that was iterated for training
    place = ''  # FILE:LINE where it was made; '' if a library made it
    map_place = ''  # where the program calls Dataset.map first
    last = 0  # number of the last one that was made there and iterated
    made = 0  # of these
    maps = 0  # of tf.data, also by libraries
    noted = False
    named = False  # the place was written
    recorded = False


_numbers = itertools.count(1)
# By the identity of each loader that lives: a reference, where it was made, and its number. Its own
# hash is not asked for, as a program may define it.
_loaders = {}


def _place(libraries):
    """Returns where the program calls one of these libraries; '' if another one does."""
    frame = sys._getframe(2)
    while frame is not None:
        root = (frame.f_globals.get('__name__') or '').partition('.')[0]
        if root not in libraries:
            path = frame.f_code.co_filename
            if not is_program(path) or path.startswith('<'):
                return ''
            return '%s:%d' % (absolute(path), frame.f_lineno or 0)
        frame = frame.f_back
    return ''


def note_made(loader):
    """Notes where a DataLoader is made. To be called when its __init__ is."""
    place = _place(('recprobe_hook', 'torch', 'torchdata'))
    key = id(loader)
    reference = weakref.ref(loader, lambda _: _loaders.pop(key, None))
    _loaders[key] = reference, place, next(_numbers)


def _made(loader):
    """Returns where a loader was made, and its number."""
    return _loaders.get(id(loader), (None, '', 0))[1:]


def note_map(dataset):
    """Notes a call of Dataset.map of tf.data. To be called when it is."""
    _State.maps += 1
    _State.map_place = _State.map_place or _place(('recprobe_hook', 'tensorflow'))


def _note_another(loader):
    """A program that makes its DataLoader anew, for each epoch, starts workers each time."""
    place, number = _made(loader)
    if not place or place != _State.place or number <= _State.last:
        return
    _State.last = number
    _State.made = min(_State.made + 1, _MOST_MADE)
    if _State.made & _State.made - 1 == 0 or _State.made == _MOST_MADE:
        _State.recorded = False


def note_loader(loader):
    """Notes the settings of a DataLoader that is iterated. The first one is the training's."""
    if _State.noted:
        _note_another(loader)
        return
    _State.noted = True
    _State.place, _State.last = _made(loader)
    _State.made = 1
    workers = min(int(getattr(loader, 'num_workers', 0) or 0), _MOST)
    prefetch = min(int(getattr(loader, 'prefetch_factor', 0) or 0), _MOST)
    persistent = bool(getattr(loader, 'persistent_workers', False))
    pinned = bool(getattr(loader, 'pin_memory', False))
    _State.loader = (workers | prefetch << _PREFETCH | persistent << _PERSISTENT |
                     pinned << _PINNED)


def write_once(thread, waits):
    """Writes the settings, once, of a training whose waits have this name: again where the program
    has made its DataLoader more often."""
    if _State.recorded:
        return
    _State.recorded = True
    try:
        library = _OF_WAITS.get(waits, 0)
        value, place = library << _LIBRARY | min(_State.maps, _MOST), _State.map_place
        if _State.noted and not library:
            library = next((library for module, library in _BY_MODULE if module in sys.modules),
                           _PYTORCH)
            value = _State.loader | _State.made << _MADE | library << _LIBRARY
            place = _State.place
        if not library:
            return
        name, when = events.SETTINGS, now()
        if place:
            name = events.SETTINGS_PLACE
            if not _State.named:
                write(events.name_records(name, 'input settings\t' + place))
            _State.named = True
        write(record(events.record_head(events.RANGE, 0, thread, name), when, when, value))
    except Exception as error:
        events.notice('The settings of the input are not known: %r' % error)


def after_fork():
    _State.noted = _State.named = _State.recorded = False
    _State.loader = _State.last = _State.made = _State.maps = 0
    _State.place = _State.map_place = ''
