"""Sums up the time of threads by what their samples show."""


class Spent:
    """Time [ns] by name, since it was taken last."""

    def __init__(self):
        self.times = {}
        self.computed = {}  # by thread: the name of its latest sample that computed

    def add(self, thread, name, span, computes=True, missed=0):
        """Counts `span` for a name; None: for none. `missed`: the part of it for which the thread
        computed, at the name where it did so last, though this sample does not."""
        if computes:
            self.computed[thread] = name
        elif missed and thread in self.computed:
            self._count(self.computed[thread], missed)
            span -= missed
        self._count(name, span)

    def _count(self, name, span):
        if name is not None and span:
            self.times[name] = self.times.get(name, 0) + span

    def forget(self, there):
        """Forgets all threads but these."""
        for thread in [one for one in self.computed if one not in there]:
            del self.computed[thread]

    def take(self):
        """Returns the times and begins anew."""
        times, self.times = self.times, {}
        return times
