"""Waits of a thread that is not known to train: it may turn out to, else they are input in the
background."""
from .events import record, write

_MOST = 8
_QUIET = 64  # waits after which a worker is taken for one
_SPARSE = 10_000_000  # ns between two that are told as input in the background


class Withheld:
    """`worker`: of a process that multiprocessing has started, which tells of no background."""

    def __init__(self, lane, worker):
        self.lane = lane
        self.worker = worker
        self.quiet = False  # nobody will ask
        self.waits = []
        self.count = 0
        self.told_until = 0

    def add(self, name, begin, end, own):
        self.waits.append((name, begin, end, own))
        self.count += 1
        if len(self.waits) > _MOST:
            self._give_up_first()
            self.quiet = self.worker and self.count >= _QUIET

    def take(self):
        """They were a trainer's."""
        self.quiet = False
        self.count = 0
        waits, self.waits = self.waits, []
        return waits

    def give_up(self):
        while self.waits:
            self._give_up_first()

    def _give_up_first(self):
        _, begin, end, _ = self.waits.pop(0)
        if not self.worker and begin >= self.told_until:
            self.told_until = begin + _SPARSE
            write(record(self.lane.background, begin, end, 0))
