"""Methods of the program's iterators, timed."""
import functools

from .threads import begin_wait, end_wait


class How:
    """`thing_of`: the data set of an iterator, where it has one. `gradients`: whether they are
    recorded. `applies`: false where a call for that iterator is no wait. `batch`: whether it gives
    one."""

    def __init__(self, name, thing_of=None, gradients=None, applies=None, batch=True):
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

    timed_by_recprobe._recprobe = True
    setattr(owner, method, timed_by_recprobe)
