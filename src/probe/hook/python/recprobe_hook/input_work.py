"""Samples the Python stacks of threads: what kind of work the input does, and at which lines.

A thread of the hook samples 20 times a second. It does so less often where that would take more of
a core than _COST, and where the workers of one loader would be sampled more than _MOST times a
second together. The kind of work is that of the main thread in a worker process of PyTorch's
DataLoader, and in a training process that of the threads that run a library's input (a function
that tf.data calls, a DataLoader that another thread iterates), and of the training thread in a DataLoader without
workers. If a stack is in native code, its innermost Python frame counts.
"""
import atexit
import os
import _thread

from . import events, lines, own_threads, stacks, wake
from .events import now, ran, record, write
from .places import is_program, part_of_call
from .spent import Spent

_PERIOD = 0.05  # s
_MOST, _LEAST = 32, 16  # samples a second of all workers of a loader together: of _FEW, of more
_FEW = 8
_LONGEST = 0.5  # s, unless each sample costs too much for it
_COST = 0.006  # of a core, about
_LATEST = 5  # samples whose costs count; code that is seen for the first time costs more
_RECORD = 1.0  # s, per record
_FIRST = 0.2  # s, of the first one, as programs may be short
_END = 0.2  # s, at most, for the last record when the program ends

# Kinds of work by the module of the innermost frame, or the package that contains it.
_KINDS = {
    'torch.utils.data._utils.collate': events.BATCH_WORK,
    'PIL.ImageOps': events.AUGMENT, 'PIL.ImageEnhance': events.AUGMENT,
    'PIL.ImageFilter': events.AUGMENT, 'PIL.ImageChops': events.AUGMENT,
    'PIL.ImageDraw': events.AUGMENT, 'torchvision.transforms': events.AUGMENT,
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
# Functions of PIL.Image that decode or lead to it. The first access to pixels is in PIL.ImageFile.
_DECODING = {'open', 'load', 'init', 'preinit', '_getdecoder', '_open_core',
             '_decompression_bomb_check'}
# Functions of modules that decompress which do the contrary.
_COMPRESSING = {'compress', 'write', '_write_raw', 'flush', 'close'}
# Functions of zipfile that read an archive's directory, and decompress nothing.
_DIRECTORY = {'__init__', '_RealGetContents', '_EndRecData', '_EndRecData64', '_decodeExtra',
              '_sanitize_filename', 'infolist', 'namelist', 'getinfo'}
# Packages that call the program's input code. Frames outside them are not input.
_CALLERS = ('torch.utils.data', 'torchdata', 'tensorflow', 'grain')
_LOADERS = ('torch.utils.data', 'torchdata')  # those of a training thread: the others train, too
_WAITING = {'threading', 'queue', 'selectors', 'multiprocessing', 'multiprocess', 'concurrent'}


def _is_in(module, packages):
    return any(module == package or module.startswith(package + '.') for package in packages)


def _kind_of_module(module, function):
    """Returns None for an unknown module."""
    if module == 'PIL.Image' and function not in _DECODING:
        return events.AUGMENT
    if module == 'zipfile' and function in _DIRECTORY:
        return None
    while module:
        kind = _KINDS.get(module)
        if kind == events.DECOMPRESS and function in _COMPRESSING:
            return None
        if kind is not None:
            return kind
        module = module.rpartition('.')[0]
    return None


def kind_of(frame, callers=_CALLERS):
    """Returns the kind of input work of the thread with this innermost frame; None: none, or it
    waits."""
    kind = None
    waits = False
    while frame is not None:
        module = frame.f_globals.get('__name__') or ''
        if kind is None:
            kind = _kind_of_module(module, frame.f_code.co_name)
        if _is_in(module, callers) and module != 'torch.utils.data._utils.collate':
            if kind == events.FUNCTION and part_of_call(frame) == 'collate_fn':
                return events.BATCH_WORK
            return kind if kind is not None or waits else events.OTHER_WORK
        if kind is None and module.partition('.')[0] in _WAITING:
            waits = True
        elif kind is None and is_program(frame.f_code.co_filename):
            kind = events.FUNCTION
        frame = frame.f_back
    return None


def period_for(costs):
    """Returns the mean period [s] between samples of which the latest ones cost so much [ns]."""
    mean, least = sum(costs) / len(costs) / 1e9, min(costs) / 1e9
    # The first samples are of imports, and come to code that none has come to: they say little of
    # the others.
    longest = max(_LONGEST, least / _COST) if len(costs) == _LATEST else _LONGEST
    return min(max(_PERIOD, mean / _COST), longest)


class _State:
    started = False
    settled = False  # it is known what this process does
    watched = None  # tells whether a thread makes input
    otherwise = None  # the kind to record for such threads without work; None: do not record them
    period = _PERIOD  # s, at least, between samples
    main = None  # the thread that trains or works for another process,
    role = lines.PROGRAM  # and which of these it does
    sampler = None


def watch_program():
    """Samples a program of which nothing is known yet. To be called by its main thread."""
    if not _State.started:
        _watch(lambda thread: False, None, lines.PROGRAM)


def watch_worker(count=1):
    """Samples the calling thread, in a process that makes batches for another one, as `count`
    processes do."""
    _State.period = max(_PERIOD, count / (_MOST if count <= _FEW else _LEAST))
    worker = _thread.get_ident()
    _State.settled = True
    _watch(lambda thread: thread == worker, events.IDLE, lines.WORKER)


def watch_process():
    """Samples the calling thread, in a process that multiprocessing has started."""
    _watch(lambda thread: False, None, lines.WORKER)


def watch_trainer():
    """Samples all threads; the calling one trains, others may make its input."""
    if _State.settled:
        return
    trainer = _thread.get_ident()
    _State.settled = True
    _watch(lambda thread: thread != trainer, None, lines.TRAINER)


def _watch(watched, otherwise, role):
    _State.watched, _State.otherwise, _State.role = watched, otherwise, role
    _State.main = _thread.get_ident()
    if _State.started:
        return
    _State.started = True
    try:
        wake.prepare()
        own_threads.start(_sample)
    except (ImportError, RuntimeError) as error:
        wake.settle()
        events.notice('Where the input spends its time is not measured: %r' % error)


def end():
    """Writes what was sampled, and samples no more in this process."""
    _State.started = False
    if _State.sampler is not None:
        _State.sampler.end()


def _after_fork():
    _State.started = _State.settled = False
    _State.period = _PERIOD
    _State.sampler = None


atexit.register(end)
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


class _Sampler:
    """Samples all threads but its own."""

    def __init__(self):
        self.sleep = wake.sleeper()
        self.drawn = os.getpid()  # workers begin at once, and do not sample at once
        lane = _thread.get_native_id()
        kinds = [*events.WORK, *(kind + events.OWN_WORK for kind in events.WORK[:-1])]
        self.heads = {kind: events.record_head(events.RANGE, 0, lane, kind) for kind in kinds}
        self.lines = lines.Lines(lane)
        self.period = _State.period  # s, mean
        if self.period > _PERIOD:
            self.period *= self.first_factor()
        self.costs = []  # ns, of the latest samples
        self.spent = Spent()  # by kind of work
        self.begin = self.last = now()  # of the samples that are not written yet
        self.busy = _thread.allocate_lock()  # held while they change

    def next_factor(self):
        """Returns a number from 0.5 to 1.5. Threads that wake up by a period, and are held up by
        the same lock, would fall into step: another one would always get it first."""
        self.drawn = (self.drawn * 1_103_515_245 + 12_345) % (1 << 31)
        return 0.5 + self.drawn / (1 << 31)

    def first_factor(self):
        """Returns a number from 0 to 1, so that of many workers also those are seen that end soon."""
        return max(0.02, self.next_factor() - 0.5)

    def look(self):
        """Looks at the threads. No frame may outlive the call: it would keep the program's objects
        alive, and this thread would destroy them."""
        frames = stacks.others(_State.main)
        with self.busy:
            if not _State.started:
                return
            when = now()
            span = when - self.last  # not the period: a thread with the lock delays its sample
            self.last = when
            for thread, frame in frames.items():
                role = _State.role if thread == _State.main else None
                computes, missed = self.lines.add(role, thread, frame, span, when)
                if _State.watched(thread):
                    kind = kind_of(frame) or _State.otherwise
                    self.spent.add(thread, kind, span, computes, missed)
                elif role == lines.TRAINER:
                    kind = kind_of(frame, _LOADERS)
                    self.spent.add(thread, kind and kind + events.OWN_WORK, span, computes, missed)
            self.lines.forget(frames)
            self.spent.forget(frames)

    def sample(self, seconds):
        """Samples for a while, and writes the records of it."""
        used = ran()
        while _State.started and self.last - self.begin < seconds * 1e9:
            self.sleep(self.period * self.next_factor())
            self.look()
            before, used = used, ran()
            self.costs = [*self.costs, used - before][-_LATEST:]
            self.period = max(_State.period, period_for(self.costs))
        if _State.started:
            with self.busy:
                self.write()

    def write(self):
        told = self.lines.take(self.begin, self.last)
        length = max(1, self.last - self.begin)
        told += b''.join(
            record(self.heads[kind], self.begin, self.last, time_of_kind * 1_000_000 // length)
            for kind, time_of_kind in self.spent.take().items())
        wake.in_a_hurry(write, told)  # the first one opens the file
        self.begin = self.last

    def end(self):
        """Writes what is not written yet. Called by another thread, after which no sample comes."""
        if self.busy.acquire(True, _END):
            if self.last > self.begin:
                self.write()
            self.busy.release()


def _sample():
    try:
        try:
            sampler = _State.sampler = _Sampler()
        finally:
            wake.settle()
        seconds = _FIRST
        while _State.started:
            sampler.sample(seconds)
            seconds = _RECORD
    except Exception as error:
        events.notice('Where the input spends its time is no longer measured: %r' % error)
