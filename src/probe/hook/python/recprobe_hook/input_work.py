"""Samples the Python stacks of input threads to find what kind of work they do.

A thread of the hook samples 20 times a second: in a worker process of PyTorch's DataLoader its main
thread; in a training process the threads that run a library's input (a function that tf.data calls,
a DataLoader that another thread iterates). If a stack is in native code, its innermost Python frame
counts.
"""
import os
import sys
import time
import _thread

from . import events
from .events import now, record, write

_PERIOD = 0.05  # s
_SAMPLES = 20  # samples per record
_FIRST = 4  # samples of the first record, as programs may be short

# Kinds of work by the module of the innermost frame, or the package that contains it.
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
# Functions of PIL.Image that do not decode, which happens at the first access to pixels.
_OPERATIONS = {'resize', 'crop', 'transpose', 'rotate', 'transform', 'filter', 'thumbnail'}
# Packages that call the program's input code. Frames outside them are not input.
_CALLERS = ('torch.utils.data', 'torchdata', 'tensorflow', 'grain')
_WAITING = {'threading', 'queue', 'selectors', 'multiprocessing', 'multiprocess', 'concurrent'}
_LIBRARY = os.path.dirname(os.__file__)


def _is_in(module, packages):
    return any(module == package or module.startswith(package + '.') for package in packages)


def _kind_of_module(module, function):
    """Returns None for an unknown module."""
    if module == 'PIL.Image' and function in _OPERATIONS:
        return events.AUGMENT
    while module:
        kind = _KINDS.get(module)
        if kind is not None:
            return kind
        module = module.rpartition('.')[0]
    return None


def _is_program(path):
    return not ('-packages' in path or path.startswith((_LIBRARY, '<frozen')))


def kind_of(frame):
    """Returns the kind of input work of the thread with this innermost frame; None: none, or it
    waits."""
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
        elif kind is None and _is_program(frame.f_code.co_filename):
            kind = events.FUNCTION
        frame = frame.f_back
    return None


class _State:
    started = False


def watch_worker():
    """Samples the calling thread, in a process that makes batches for another one."""
    worker = _thread.get_ident()
    _start(lambda thread: thread == worker, events.IDLE)


def watch_trainer():
    """Samples all threads except the calling one, which trains."""
    trainer = _thread.get_ident()
    _start(lambda thread: thread != trainer, None)


def _start(watched, otherwise):
    """`otherwise`: the kind to record for threads without work; None: do not record them."""
    if _State.started:
        return
    _State.started = True
    try:
        _thread.start_new_thread(_sample, (watched, otherwise))
    except RuntimeError as error:
        events.notice('Where the input spends its time is not measured: %r' % error)


def ends():
    _State.started = False


after_fork = ends


def _kinds(own, watched):
    """Returns the kind of each watched thread. No frame may outlive the call: it would keep the
    program's objects alive, and this thread would destroy them."""
    return [kind_of(frame) for thread, frame in sys._current_frames().items()
            if thread != own and watched(thread)]


def _sample(watched, otherwise):
    own = _thread.get_ident()
    lane = _thread.get_native_id()
    heads = {kind: events.record_head(events.RANGE, 0, lane, kind) for kind in events.WORK}
    samples = _FIRST
    try:
        while _State.started:
            begin = last = now()
            spent = dict.fromkeys(heads, 0)
            for _ in range(samples):
                time.sleep(_PERIOD)
                sampled = now()
                for kind in _kinds(own, watched):
                    kind = kind or otherwise
                    if kind is not None:  # by time: a thread with the lock delays its sample
                        spent[kind] += sampled - last
                last = sampled
            samples = _SAMPLES
            length = max(1, last - begin)
            write(b''.join(record(heads[kind], begin, last, time_of_kind * 1_000_000 // length)
                           for kind, time_of_kind in spent.items() if time_of_kind))
    except Exception as error:
        events.notice('Where the input spends its time is no longer measured: %r' % error)
