"""Wakes a thread up so that its samples show where other threads are when they are due.

A thread that wakes up in Python requests the interpreter lock. Its holder gives it up when the
switch interval (5 ms) is over, or earlier, in a call that releases it: code around such calls
would hardly be seen. So the interval has to be short, but only while the sampler waits for the
lock, as it is that of all threads. A timer of the kernel does that: who reads it gets, in a buffer,
how often it has expired. Here it is 1, and the buffer is the place where the interpreter has its
interval in microseconds. The thread sets it back as soon as it has the lock.
"""
import os
import struct
import sys
import time

from .events import out_of_the_way

_NUMBER = struct.Struct('@L')
_PROBES = 4937, 5113, 4871  # us: values of the interval by which its place is found
_IN_A_HURRY = 1e-4  # s
_LONG_TURNS = 0.05  # s: a program that wants such turns of its threads gets them
_MOST = 4 << 20  # bytes of the interpreter's state that are searched
_MONOTONIC, _CLOSED_AT_EXEC = 1, 0o2000000
_SET_TIMER_SLACK, _SLACK = 29, 10_000  # ns

_set = sys.setswitchinterval


def _place_of_interval(ctypes):
    """Returns the address of the switch interval; None if it is not found, or not surely."""
    start = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, '_PyRuntime'))
    with open('/proc/self/maps', 'rb') as maps:
        for line in maps:
            begin, end = (int(word, 16) for word in line.split(None, 1)[0].split(b'-'))
            if begin <= start < end:
                break
        else:
            return None
    size = min(end - start, _MOST) // _NUMBER.size * _NUMBER.size
    places = None
    for microseconds in _PROBES:
        # The interpreter may round down by one.
        _set((microseconds + 0.5) / 1e6)
        state = ctypes.string_at(start, size)
        sought, found, at = _NUMBER.pack(microseconds), set(), -1
        while (at := state.find(sought, at + 1)) >= 0:
            if at % _NUMBER.size == 0:
                found.add(at)
        places = found if places is None else places & found
    return start + places.pop() if len(places) == 1 else None


class _Timer:
    """Sleeps by a timer that shortens the switch interval when it expires."""

    def __init__(self):
        import ctypes
        if not getattr(sys, '_is_gil_enabled', lambda: True)():
            raise OSError('there is no interpreter lock')
        system = ctypes.CDLL(None, use_errno=True)  # its functions run without the lock
        self.prctl, self.number = system.prctl, ctypes.c_ulong
        # What keeps the lock need not wait for it.
        self.read, self.set = system.read, ctypes.PyDLL(None).timerfd_settime
        self.read.argtypes = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
        self.read.restype = ctypes.c_ssize_t
        self.set.argtypes = ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p
        self.interval = _place_of_interval(ctypes)
        if self.interval is None:
            raise OSError('the switch interval is not found')
        timer = system.timerfd_create(_MONOTONIC, _CLOSED_AT_EXEC)
        if timer < 0:
            raise OSError(ctypes.get_errno(), 'no timer')
        self.file = out_of_the_way(timer)

    def start(self):
        """To be called by the thread that will sleep. It requests the lock after so long, and looks
        so often whether it is free."""
        self.prctl(_SET_TIMER_SLACK, self.number(_SLACK), *3 * [self.number(0)])

    def sleep(self, seconds):
        if _State.wished > _LONG_TURNS:
            time.sleep(seconds)
            return
        whole = int(seconds)
        once = struct.pack('@llll', 0, 0, whole, max(1, int((seconds - whole) * 1e9)))
        # A program that closes all files may have another one under the timer's number by now.
        if self.set(self.file, 0, once, None) != 0:
            time.sleep(seconds)
            return
        self.read(self.file, self.interval, _NUMBER.size)
        _set(_State.wished)


class _State:
    wished = None  # the program's own interval [s], while a timer may change it,
    hurried = None  # and while in_a_hurry() has
    timer = None


def _set_by_program(interval, /):
    """Replaces sys.setswitchinterval: what the program sets while the sampler sleeps is kept."""
    _set(interval)
    _State.wished = sys.getswitchinterval()


def in_a_hurry(work, *words):
    """Calls work(*words), which gives up the lock many times, as imports and readers of files do:
    each time it would wait for it."""
    if sys.getswitchinterval() > _LONG_TURNS:
        return work(*words)
    wished = _State.hurried = sys.getswitchinterval()
    _set(_IN_A_HURRY)
    try:
        return work(*words)
    finally:
        # The program may have set another one meanwhile.
        _set(wished if _State.wished is None else _State.wished)
        _State.hurried = None


def prepare():
    """Makes the timer, and imports what samples need. To be called by the program's main thread:
    it may close all files while another one reads."""
    wished = sys.getswitchinterval()
    if wished > _LONG_TURNS:
        return
    import linecache, tokenize  # noqa: E401, F401
    try:
        _State.timer = in_a_hurry(_Timer)
    except Exception:  # another interpreter: samples come when the lock is free
        return
    _State.wished = wished
    sys.setswitchinterval = _set_by_program
    _set(_IN_A_HURRY)  # a new thread may wait for the lock for seconds where others release it often


def settle():
    """Ends the hurry of prepare(), when the sampler is ready or does not come."""
    if _State.wished is not None:
        _set(_State.wished)


def sleeper():
    """Returns a function that sleeps for seconds. To be called by the thread that will sleep, after
    prepare()."""
    if _State.timer is None:
        return time.sleep
    _State.timer.start()
    return _State.timer.sleep


def _after_fork():
    before = _State.hurried or _State.wished
    if before is not None:
        _set(before)  # the timer may just have expired
    # The timer's number may be another file's by now: it is not closed.
    _State.hurried = _State.wished = _State.timer = None
    sys.setswitchinterval = _set


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)
