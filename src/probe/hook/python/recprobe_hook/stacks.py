"""Copies the stacks of threads, which may go on while a sampler looks at them."""
import sys
import _thread

from .line_number import line_number


class Frame:
    """What is needed of a frame, as it was. Keeps the frame, and with it the program's objects,
    alive: must not outlive a sample."""
    __slots__ = 'live', 'f_code', 'f_globals', 'f_lasti', 'f_lineno', 'f_back'

    def __init__(self, live):
        self.live = live
        self.f_code, self.f_globals = live.f_code, live.f_globals
        self.f_lasti = live.f_lasti
        self.f_lineno = line_number(self.f_code, self.f_lasti, live.f_lineno)
        self.f_back = None

    @property
    def f_locals(self):
        return self.live.f_locals


def copied(live):
    """Returns the innermost frame of a copy."""
    innermost = frame = Frame(live)
    while (live := live.f_back) is not None:
        frame.f_back = frame = Frame(live)
    return innermost


def others(first):
    """Returns the innermost frames of all threads but the calling one, by thread. `first`: the
    thread that is copied first."""
    frames = sys._current_frames()
    del frames[_thread.get_ident()]  # a cycle, which would keep all of them
    stacks = {}
    if first in frames:
        stacks[first] = copied(frames.pop(first))
    for thread, frame in frames.items():
        stacks[thread] = copied(frame)
    return stacks
