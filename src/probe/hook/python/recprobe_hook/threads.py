"""Finds the thread that trains.

It is one that steps an optimizer or runs Keras' loop, else the main thread.

Waits of other threads are input in the background. In a process started by multiprocessing, such as
a loader's worker, no thread trains until one shows that it does.
"""
import atexit
import os
import sys
import _thread

from . import events, interpreter_lock, ranks, settings
from .steps import ThreadOfWork, marks


_MOST = 64  # threads that are remembered


class _Process:
    """State of this process. A forked child resets it."""

    def __init__(self):
        self.main = _thread.get_ident()  # the thread that starts the program, or forks
        self.local = _thread._local()
        self.threads = []
        self.shown = False  # some thread has shown that it trains
        self.worker = None


_process = _Process()


def _is_worker():
    if _process.worker is None:
        modules = [sys.modules.get(name) for name in ('multiprocessing.process',
                                                      'multiprocess.process')]
        _process.worker = any(module is not None and module.parent_process() is not None
                              for module in modules)
    return _process.worker


def current():
    try:
        return _process.local.work
    except AttributeError:
        pass
    main = _thread.get_ident() == _process.main
    worker = _is_worker()
    work = ThreadOfWork(_thread.get_native_id(), main and not worker and not _process.shown,
                        worker)
    work.main = main
    _process.local.work = work
    _process.threads.append(work)
    if len(_process.threads) > _MOST:
        _forget_one()
    return work


def _forget_one():
    """Bounds the list, as programs may start a thread per batch."""
    for work in _process.threads:
        if not (work.main or work.shown):
            _process.threads.remove(work)
            work.ends()
            return


def trainer():
    """Returns the thread that has just shown that it trains. It is the calling one; if that is a
    library's own thread (autograd may run the optimizer), the one that trains already, or else the
    main thread."""
    work = current()
    if work.shown:
        return work
    if not work.main and not _is_python_thread():
        for other in _process.threads:
            if other is not work and (other.shown or (other.main and not _process.shown)):
                work = other
                break
    if not work.shown:
        if not _process.shown:
            _process.shown = True
            for other in _process.threads:
                other.trains = other.shown
        work.shown = True
        work.proves_to_train()
    return work


def _is_python_thread():
    threading = sys.modules.get('threading')
    thread = threading._active.get(_thread.get_ident()) if threading is not None else None
    return thread is not None and not isinstance(thread, threading._DummyThread)


def is_background():
    """Tells whether this thread has fetched batches and does not train."""
    try:
        work = _process.local.work
    except AttributeError:
        return False
    return not work.trains and (work.relays or work.withheld.count > 0)


def relays():
    """Notes that this thread takes batches from one that fetches them. Returns whether it trains;
    otherwise it passes them on."""
    work = current()
    work.relays = True
    return work.trains


def begin_wait(how, iterator):
    """Begins a wait of this thread. Returns the argument for end_wait(); None if the call does not
    count, or is within another wait."""
    work = None
    try:
        try:
            work = _process.local.work
        except AttributeError:
            work = current()
        if work.passes or (how.applies is not None and not how.applies(iterator)):
            return None
        work.passes = True
        work.wait_begins(how, iterator)
    except Exception as error:
        events.notice('A wait for input was not recorded: %r' % error)
    except BaseException:  # the program was interrupted
        if work is not None:
            work.passes = False
        raise
    return work


def end_wait(work, got):
    work.passes = work.withheld.quiet
    try:
        work.wait_ends(got)
    except Exception as error:
        events.notice('A wait for input was not recorded: %r' % error)


def _after_fork():
    _process.__init__()
    marks.reset()
    interpreter_lock.after_fork()
    ranks.after_fork()
    settings.after_fork()


@atexit.register
def _ends():
    try:
        for work in _process.threads:
            work.ends()
    except Exception as error:
        events.notice('The last step was not recorded: %r' % error)


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)
