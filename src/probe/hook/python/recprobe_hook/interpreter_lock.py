"""Measures how often the interpreter lock is held when a thread requests it.

A thread of the hook sleeps and measures how late it wakes up, as waking up takes the lock. It does
so 20 times a second, which makes other threads release the lock 20 times more; under contention
they do so 200 times a second anyway. Time in which the thread waited for a processor
(/proc/self/task/TID/schedstat) does not count.
"""
import os
import time
import _thread

from . import events, own_threads
from .events import now, record, write

_PERIOD = 50_000_000  # ns
_PROBES = 20  # per record
_HELD = 1_000_000  # ns: least delay that shows that another thread held the lock


class _Queue:
    """Reads how long the calling thread has waited for a processor [ns], without releasing the
    lock."""

    def __init__(self):
        import ctypes
        self.text = ctypes.create_string_buffer(100)
        self.read = ctypes.PyDLL(None).pread
        self.read.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)
        self.read.restype = ctypes.c_ssize_t
        self.file = os.open('/proc/self/task/%d/schedstat' % _thread.get_native_id(),
                            os.O_RDONLY | os.O_CLOEXEC)

    def waited(self):
        size = self.read(self.file, self.text, 100, 0)
        return int(self.text.raw[:size].split()[1])


class _State:
    started = False


def start():
    """Starts the measurement, once in a process that trains. Does not measure without schedstat."""
    if _State.started:
        return
    _State.started = True
    try:
        own_threads.start(_measure)
    except RuntimeError as error:
        events.notice('The interpreter lock is not watched: %r' % error)


def after_fork():
    _State.started = False


def _measure():
    try:
        queue = _Queue()
        queue.waited()
    except Exception as error:
        events.notice('The interpreter lock is not watched: %r' % error)
        return
    head = events.record_head(events.RANGE, 0, _thread.get_native_id(), events.LOCK)
    try:
        while True:
            begin, held = now(), 0
            for _ in range(_PROBES):
                held += _wait_is_long(queue)
            write(record(head, begin, now(), held * 1_000_000 // _PROBES))
    except Exception as error:
        events.notice('The interpreter lock is no longer watched: %r' % error)


def _wait_is_long(queue):
    queued = queue.waited()
    before = now()
    time.sleep(_PERIOD / 1e9)
    late = now() - before - _PERIOD
    return late >= _HELD and late - (queue.waited() - queued) >= _HELD
