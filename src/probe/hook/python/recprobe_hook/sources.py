"""Tells batches of the training from those of evaluations.

A source of batches is a data set (if unknown, an iterator) together with whether gradients are
recorded: an evaluation on the training's data is a different source.
"""
import sys
import weakref

# Packages whose frames lie between the program's loop and the hook.
_BETWEEN = {__name__.partition('.')[0], 'torch', 'torchdata', 'tensorflow', 'grain'}
_MOST = 256  # sources that are remembered
_RUN = 64  # most batches of one step that are kept apart
_GENERATOR = 0x20  # inspect.CO_GENERATOR
_TAKES_OVER = 16  # batches


class Source:
    __slots__ = ('gradients', 'training', 'evaluation', 'batches', 'since', 'boundary',
                 'exhausted')

    def __init__(self, gradients):
        self.gradients = gradients
        self.training = False  # known
        self.evaluation = False  # known
        self.batches = 0
        self.since = 0  # batches since the boundary, the end of a step
        self.boundary = -1
        self.exhausted = False


def _loop():
    """Returns the place in the program that requests a batch, looking through generators; None if
    it is in a library, as all batches may come through that place."""
    frame = sys._getframe(1)
    while frame is not None and (
            frame.f_globals.get('__name__', '').partition('.')[0] in _BETWEEN or
            frame.f_code.co_flags & _GENERATOR):
        frame = frame.f_back
    if frame is None or '-packages' in frame.f_code.co_filename:
        return None
    return frame.f_code, frame.f_lineno


def reference(thing):
    """Returns a weak reference, to recognize the object later; None if its type allows none."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return None


class Sources:
    """Sources of one thread."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.known = {}
        self.loops = {}
        self.leader = None  # the source whose batches make the steps, if no optimizer is seen
        self.established = False  # some source is known to be the training's
        self.run = []  # sources of the batches since the last step
        self.begins = []  # times at which these were requested
        self.boundary = 0

    def find(self, thing, gradients, by_loop):
        """`by_loop`: a new object in the loop of an old one is the same source."""
        key = (id(thing), gradients)
        refers, source = self.known.get(key, (None, None))
        if source is not None and (refers is None or refers() is thing):
            return source
        refers = reference(thing)
        source = self._new(refers, gradients, by_loop)
        if len(self.known) >= _MOST:
            self.known.clear()
            self.loops.clear()
        if refers is not None or not by_loop:
            self.known[key] = refers, source
        return source

    def _new(self, refers, gradients, by_loop):
        loop = _loop() if by_loop else None
        if loop is None:
            return Source(gradients)
        users = self.loops.setdefault((loop, gradients), [])
        for user in users:  # reuses one that is no longer in use
            if user[1].exhausted or (user[0] is not None and user[0]() is None):
                user[0] = refers
                user[1].exhausted = False
                return user[1]
        users.append([refers, Source(gradients)])
        return users[-1][1]

    def step(self):
        self.boundary += 1

    def took(self, source, by_optimizer, begin):
        """Notes a batch that was requested at `begin`. Returns True if it shows that this source is
        an evaluation's."""
        source.exhausted = False
        if by_optimizer:
            if len(self.run) < _RUN:
                self.run.append(source)
                self.begins.append(begin)
            else:
                self.run[-1], self.begins[-1] = source, begin
            if source.training:
                return False
        if source.boundary != self.boundary:
            source.boundary = self.boundary
            source.since = 0
        source.since += 1
        source.batches += 1
        if not by_optimizer and (self.leader is None or self._overtakes(source)):
            self._lead(source)
        if source.since > 1 and self.established and not (source.training or source.evaluation):
            source.evaluation = True
            return True
        return False

    def _overtakes(self, source):
        return (not source.training and source.batches >= _TAKES_OVER and
                source.batches >= 2 * self.leader.batches)

    def _lead(self, source):
        if self.leader is not None:
            self.leader.training = False
        self.leader = source
        source.training = self.established = True
        source.evaluation = False

    def optimized(self):
        """Notes that the optimizer has used the batches of this run: the source of the last one,
        and sources with as many batches, are the training's. If batches of others came before (of
        an evaluation that was not recognized until now), returns when the first training batch
        was requested."""
        if not self.run:
            return None
        last = self.run[-1]
        if len(self.run) == 1 and last.training:
            self.run.clear()
            self.begins.clear()
            return None
        counts = {}
        for source in self.run:
            counts[source] = counts.get(source, 0) + 1
        for source, count in counts.items():
            if source is last or (count == counts[last] and source.gradients and
                                  not source.evaluation and not source.exhausted):
                source.training = self.established = True
                source.evaluation = False
        first = next(i for i, source in enumerate(self.run) if source.training)
        begin = self.begins[first] if first > 0 else None
        self.run, self.begins = [], []
        return begin
