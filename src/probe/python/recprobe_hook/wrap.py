"""Methods of the program's iterators, timed."""
import functools

from .threads import begin_wait, end_wait


def _true():
    return True


class How:
    """`thing_of`: the data set of an iterator, or None. `gradients`: whether they are recorded.
    `applies`: false where a call is no wait. `batch`: whether it gives one."""

    def __init__(self, name, thing_of, gradients=_true, applies=_true, batch=True):
        self.name = name
        self.thing_of = thing_of
        self.gradients = gradients
        self.applies = applies
        self.batch = batch


def time_method(owner, method, how):
    """Of a class that defines it itself; once."""
    original = owner.__dict__.get(method)
    if original is None or hasattr(original, '_recprobe'):
        return

    @functools.wraps(original)
    def wrapper(self):
        __tracebackhide__ = True  # pytest's
        work = begin_wait(how, self)
        if work is None:
            return original(self)
        got = False
        try:
            batch = original(self)
            got = how.batch
            return batch
        finally:
            end_wait(work, got)

    wrapper._recprobe = True
    setattr(owner, method, wrapper)
