"""Holds back waits of a thread that may still turn out to train; else they are background input."""
from .events import record, write

_MOST = 8
_QUIET = 64  # waits after which a worker process is known not to train
_SPARSE = 10_000_000  # ns between two records of background input


class Withheld:
    """`worker`: in a process started by multiprocessing, which records no background input."""

    def __init__(self, lane, worker):
        self.lane = lane
        self.worker = worker
        self.quiet = False  # further waits are ignored
        self.waits = []
        self.count = 0
        self.written_until = 0

    def add(self, name, begin, end, own):
        self.waits.append((name, begin, end, own))
        self.count += 1
        if len(self.waits) > _MOST:
            self._give_up_first()
            self.quiet = self.worker and self.count >= _QUIET

    def take(self):
        """Returns the waits of a thread that turned out to train."""
        self.quiet = False
        self.count = 0
        waits, self.waits = self.waits, []
        return waits

    def give_up(self):
        while self.waits:
            self._give_up_first()

    def _give_up_first(self):
        _, begin, end, _ = self.waits.pop(0)
        if not self.worker and begin >= self.written_until:
            self.written_until = begin + _SPARSE
            write(record(self.lane.background, begin, end, 0))
