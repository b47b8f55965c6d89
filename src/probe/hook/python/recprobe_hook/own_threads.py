"""Starts the hook's own threads, and lets the interpreter end only when they have begun.

CPython frees the state of all threads at its end: one that the system had not let run until then
uses it afterwards, and the program ends by a signal.
"""
import atexit
import os
import _thread

_LONGEST = 5  # s to wait for a thread to begin

_begun = []  # a lock for each thread, which it releases


def start(work):
    """Calls work() on a new thread. Raises RuntimeError if there can be none."""
    begun = _thread.allocate_lock()
    begun.acquire()

    def run():
        begun.release()
        work()
    _thread.start_new_thread(run, ())
    _begun.append(begun)


def _await():
    for begun in _begun:
        begun.acquire(True, _LONGEST)


atexit.register(_await)
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_begun.clear)
