"""How often the interpreter lock is taken when a thread asks for it.

A thread of the hook's own sleeps, and finds out how much later than it should it goes on: waking up
takes the lock. It asks 20 times a second, so that another thread gives the lock away 20 times more
in a second; under contention it does so 200 times already. Time in which the thread wanted a
processor and got none (/proc/self/task/TID/schedstat) is no wait for the lock.
"""
import os
import time
import _thread

from . import events
from .events import now, record, write

_PERIOD = 50_000_000  # ns
_PROBES = 20  # of which one record tells
_HELD = 1_000_000  # ns: as much later, and a thread had the lock and did not let go of it


class _Queue:
    """What the calling thread has waited for a processor, in ns. Reading it keeps the lock."""

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
    """Once in a process that trains. Where it cannot be told what a wait is for, nobody asks."""
    if _State.started:
        return
    _State.started = True
    try:
        _thread.start_new_thread(_ask, ())
    except RuntimeError as error:
        events.tell('The interpreter lock is not watched: %r' % error)


def after_fork():
    _State.started = False


def _ask():
    try:
        queue = _Queue()
        queue.waited()
    except Exception as error:
        events.tell('The interpreter lock is not watched: %r' % error)
        return
    head = events.record_head(events.RANGE, 0, _thread.get_native_id(), events.LOCK)
    try:
        while True:
            begin, held = now(), 0
            for _ in range(_PROBES):
                held += _wait_is_long(queue)
            write(record(head, begin, now(), held * 1_000_000 // _PROBES))
    except Exception as error:
        events.tell('The interpreter lock is no longer watched: %r' % error)


def _wait_is_long(queue):
    queued = queue.waited()
    before = now()
    time.sleep(_PERIOD / 1e9)
    late = now() - before - _PERIOD
    return late >= _HELD and late - (queue.waited() - queued) >= _HELD
