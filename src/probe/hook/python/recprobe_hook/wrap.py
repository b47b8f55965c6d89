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


def replace(owner, method, made_of):
    """What a class defines itself by what `made_of` makes of it; once. Returns whether it did."""
    original = owner.__dict__.get(method)
    if original is None or hasattr(original, '_recprobe'):
        return False
    replacement = functools.wraps(original)(made_of(original))
    replacement._recprobe = True
    setattr(owner, method, replacement)
    return True


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
