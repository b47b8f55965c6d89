"""What the threads that make a training's input do: those of Python, seen from their stacks.

A thread of the hook's own looks 20 times a second at the main thread of a worker process of PyTorch's
DataLoader, or at the threads of a training process in which a library's input runs (a function that
tf.data calls, a DataLoader that another thread iterates). Where a stack is in native code, its
innermost frame of Python tells.
"""
import os
import sys
import time
import _thread

from . import events
from .events import now, record, write

_PERIOD = 0.05  # s
_LOOKS = 20  # of which one record of a kind tells
_FIRST = 4  # looks, of the first record: programs are short

# Innermost frames of these modules, or of what is in them.
_KINDS = {
    'torch.utils.data._utils.collate': events.BATCH_WORK,
    'PIL.ImageOps': events.AUGMENT, 'PIL.ImageEnhance': events.AUGMENT,
    'PIL.ImageFilter': events.AUGMENT, 'torchvision.transforms': events.AUGMENT,
    'albumentations': events.AUGMENT, 'kornia': events.AUGMENT, 'imgaug': events.AUGMENT,
    'PIL': events.DECODE, 'torchvision.io': events.DECODE, 'cv2': events.DECODE,
    'imageio': events.DECODE, 'simplejpeg': events.DECODE, 'turbojpeg': events.DECODE,
    'av': events.DECODE, 'decord': events.DECODE, 'soundfile': events.DECODE,
    'torchaudio': events.DECODE, 'librosa': events.DECODE,
    'gzip': events.DECOMPRESS, 'zipfile': events.DECOMPRESS, 'bz2': events.DECOMPRESS,
    'lzma': events.DECOMPRESS, 'zstandard': events.DECOMPRESS, '_compression': events.DECOMPRESS,
    'compression': events.DECOMPRESS, 'lz4': events.DECOMPRESS,
    'fsspec': events.STORAGE, 's3fs': events.STORAGE, 'gcsfs': events.STORAGE,
    'boto3': events.STORAGE, 'botocore': events.STORAGE, 'urllib3': events.STORAGE,
    'requests': events.STORAGE, 'http': events.STORAGE, 'ssl': events.STORAGE,
    'aiohttp': events.STORAGE,
}
# Of PIL.Image, which decodes when pixels are first asked for (in ImageFile).
_OPERATIONS = {'resize', 'crop', 'transpose', 'rotate', 'transform', 'filter', 'thumbnail'}
# Whose frames call the program's code for input. None of what is further out is input.
_CALLERS = ('torch.utils.data', 'torchdata', 'tensorflow', 'grain')
_WAITING = {'threading', 'queue', 'selectors', 'multiprocessing', 'multiprocess', 'concurrent'}
_LIBRARY = os.path.dirname(os.__file__)


def _is_in(module, packages):
    return any(module == package or module.startswith(package + '.') for package in packages)


def _kind_of_module(module, function):
    """None where it is nobody known."""
    if module == 'PIL.Image' and function in _OPERATIONS:
        return events.AUGMENT
    while module:
        kind = _KINDS.get(module)
        if kind is not None:
            return kind
        module = module.rpartition('.')[0]
    return None


def _is_programs(path):
    return not ('-packages' in path or path.startswith((_LIBRARY, '<frozen')))


def kind_of(frame):
    """What the thread with this innermost frame does for the input; None: nothing, or it waits."""
    kind = None
    waits = False
    while frame is not None:
        module = frame.f_globals.get('__name__') or ''
        if kind is None:
            kind = _kind_of_module(module, frame.f_code.co_name)
        if _is_in(module, _CALLERS) and module != 'torch.utils.data._utils.collate':
            return kind if kind is not None or waits else events.OTHER_WORK
        if kind is None and module.partition('.')[0] in _WAITING:
            waits = True
        elif kind is None and _is_programs(frame.f_code.co_filename):
            kind = events.FUNCTION
        frame = frame.f_back
    return None


class _State:
    started = False


def watch_worker():
    """The calling thread, of a process that makes batches for another one."""
    worker = _thread.get_ident()
    _start(lambda thread: thread == worker, events.IDLE)


def watch_trainer():
    """All threads but the calling one, which trains."""
    trainer = _thread.get_ident()
    _start(lambda thread: thread != trainer, None)


def _start(watched, otherwise):
    """`otherwise`: the kind of what is no work; None: it is not told."""
    if _State.started:
        return
    _State.started = True
    try:
        _thread.start_new_thread(_look_on, (watched, otherwise))
    except RuntimeError as error:
        events.tell('Where the input spends its time is not seen: %r' % error)


def ends():
    _State.started = False


after_fork = ends


def _kinds(own, watched):
    """Of each thread that is watched. No frame outlives the call: it would keep what the program lets
    go of, and this thread would be the one to destroy it."""
    return [kind_of(frame) for thread, frame in sys._current_frames().items()
            if thread != own and watched(thread)]


def _look_on(watched, otherwise):
    own = _thread.get_ident()
    lane = _thread.get_native_id()
    heads = {kind: events.record_head(events.RANGE, 0, lane, kind) for kind in events.WORK}
    looks = _FIRST
    try:
        while _State.started:
            begin = last = now()
            spent = dict.fromkeys(heads, 0)
            for _ in range(looks):
                time.sleep(_PERIOD)
                time_of_look = now()
                for kind in _kinds(own, watched):
                    kind = kind or otherwise
                    if kind is not None:  # who holds the lock delays the look at it
                        spent[kind] += time_of_look - last
                last = time_of_look
            looks = _LOOKS
            length = max(1, last - begin)
            write(b''.join(record(heads[kind], begin, last, time_of_kind * 1_000_000 // length)
                           for kind, time_of_kind in spent.items() if time_of_kind))
    except Exception as error:
        events.tell('Where the input spends its time is no longer seen: %r' % error)
