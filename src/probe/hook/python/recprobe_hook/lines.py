"""Records at which lines of the program its threads spend their time (docs/format/events.md).

For each sample of a thread, the time since the sample before counts for the place where it is.
Places are named once and then told by number; those beyond the first _MOST of a process count as
one.
"""
import sys
import time
import _thread

from . import events
from .blocked import COMPUTES, Threads
from .places import place_of
from .spent import Spent

_MOST = 400  # places of a process that are told apart
_FIRST_NUMBER = 1000  # of names of places
_SEPARATOR = '\t'

PROGRAM, TRAINER, WORKER, INPUT, THREAD = ('program', 'training thread', 'worker', 'input thread',
                                           'thread')


def _plain(text):
    return ' '.join(text.split()) if _SEPARATOR in text or '\n' in text else text


class Lines:
    """Sums up the places of a process. Only its sampler uses it."""

    def __init__(self, lane):
        self.lane = lane
        self.heads = {}  # by name: the head of its records
        self.spent = Spent()
        self.unnamed = b''  # records of names that are not written yet
        try:
            self.threads = Threads()
        except Exception as error:
            events.notice('Whether lines of the program compute or wait is not known: %r' % error)
            self.threads = None

    def add(self, role, thread, frame, span, when):
        """Counts `span` [ns] for the place of a thread at `when`. `role`: PROGRAM, TRAINER or
        WORKER; None: found by the place, and a thread that runs none of the program's code does
        not count. Returns whether the thread computes there, and the part of `span` for which it
        computed where it was when it did so last."""
        place = place_of(frame)
        if role is None:
            role = INPUT if place.called else THREAD
            if not place.path:
                return True, 0
        waits, missed = '', 0
        if self.threads is not None and (place.path or role == WORKER):
            waits, missed = self.threads.state(thread, when, place.native)
            missed = min(missed, span)  # that of a thread which did not count is longer
            if waits == 'poll' and place.calling == 'time.sleep':  # select(2), in Python 3.10
                waits = 'sleep'
        computes = waits in COMPUTES
        name = self._known(role, _SEPARATOR.join(
            ('line', role, waits if place.path else '', _plain(place.part), _plain(place.path),
             str(place.line), _plain(place.function), _plain(place.calling), _plain(place.made))))
        self.spent.add(thread, name, span, computes, missed)
        return computes, missed

    def _known(self, role, name):
        """Returns the name, or where there are too many that of all others."""
        if name not in self.heads and len(self.heads) >= _MOST:
            name = _SEPARATOR.join(('line', role, '', '', '', '0', 'others', '', ''))
        if name not in self.heads:
            self._add_name(name)
        return name

    def _add_name(self, name):
        number = _FIRST_NUMBER + len(self.heads)
        self.unnamed += events.name_records(number, name)
        self.heads[name] = events.record_head(events.RANGE, 0, self.lane, number)

    def forget(self, there):
        self.spent.forget(there)
        if self.threads is not None:
            self.threads.forget(there)

    def take(self, begin, end):
        """Returns the records for the time since the last call."""
        length = max(1, end - begin)
        records = self.unnamed + b''.join(
            events.record(self.heads[name], begin, end, time_there * 1_000_000 // length)
            for name, time_there in self.spent.take().items())
        self.unnamed = b''
        return records
