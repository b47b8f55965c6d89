"""Wraps methods of the program's iterators to time them."""
import functools

from . import events
from .threads import begin_wait, end_wait


class How:
    """Describes the waits of a method. `thing_of(iterator)`: returns its data set, or None.
    `gradients()`: tells whether gradients are recorded. `applies(iterator)`: tells whether a call
    is a wait for input. `batch`: the method returns a batch."""

    def __init__(self, name, thing_of=None, gradients=None, applies=None, batch=True):
        self.name = name
        self.thing_of = thing_of
        self.gradients = gradients
        self.applies = applies
        self.batch = batch


def replace(owner, method, wrap):
    """Replaces a method that the class itself defines by `wrap(method)`, once. Returns whether it
    did."""
    original = owner.__dict__.get(method)
    if original is None or hasattr(original, '_recprobe'):
        return False
    replacement = functools.wraps(original)(wrap(original))
    replacement._recprobe = True
    setattr(owner, method, replacement)
    return True


def noting(note, failure):
    """Returns what replace() takes: the method calls `note(self)` first. `failure`: the notice if that
    raises."""
    def wrap(original):
        import inspect  # which the libraries that have such methods import themselves

        def noted(self, *args, **kwargs):
            try:
                note(self)
            except Exception as error:
                events.notice('%s: %r' % (failure, error))
            return original(self, *args, **kwargs)

        try:
            noted.__signature__ = inspect.signature(original)  # for getfullargspec()
        except (TypeError, ValueError):
            pass
        return noted

    return wrap


def time_method(owner, method, how):
    replace(owner, method, lambda original: _timed(original, how))


def _timed(original, how):
    def timed_by_recprobe(self, *args, **kwargs):
        __tracebackhide__ = True  # pytest's
        work = begin_wait(how, self)
        if work is None:
            return original(self, *args, **kwargs)
        got = False if how.batch else None
        try:
            batch = original(self, *args, **kwargs)
            if how.batch:
                got = True
            return batch
        finally:
            end_wait(work, got)

    return timed_by_recprobe
