"""Whether a batch is for the training or for an evaluation.

A source is what gives batches: a data set, or where that is not known an iterator, together with
whether gradients are recorded, as an evaluation on the training's data is another source.
"""
import sys
import weakref

# Frames of these lie between the program's loop and us.
_BETWEEN = {__name__.partition('.')[0], 'torch', 'torchdata', 'tensorflow', 'grain'}
_MOST = 256  # sources that are remembered
_RUN = 64  # batches for one step, of which more are not told apart
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
    """The place in the program that asks for a batch, through generators; None where it is a
    library's, through which all batches may come."""
    frame = sys._getframe(1)
    while frame is not None and (
            frame.f_globals.get('__name__', '').partition('.')[0] in _BETWEEN or
            frame.f_code.co_flags & _GENERATOR):
        frame = frame.f_back
    if frame is None or '-packages' in frame.f_code.co_filename:
        return None
    return frame.f_code, frame.f_lineno


def reference(thing):
    """Tells whether something at the same address is the same; None where it cannot be told."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return None


class Sources:
    """Of one thread."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.known = {}
        self.loops = {}
        self.leader = None  # whose batches make the steps, where no optimizer is seen
        self.established = False  # some source is known to be the training's
        self.run = []  # the sources of the batches since the last step,
        self.begins = []  # and when each was asked for
        self.boundary = 0

    def find(self, thing, gradients, by_loop):
        """`by_loop`: what is new in the loop of something old is the same source."""
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
        for user in users:  # those that are in use are taken side by side with this one
            if user[1].exhausted or (user[0] is not None and user[0]() is None):
                user[0] = refers
                user[1].exhausted = False
                return user[1]
        users.append([refers, Source(gradients)])
        return users[-1][1]

    def step(self):
        self.boundary += 1

    def took(self, source, by_optimizer, begin):
        """A batch that was asked for at `begin`. Returns True where it shows that this source is an evaluation's."""
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
        """The optimizer has used the batches of this run: the last one's source, and those of which
        as many were taken, are the training's. Returns when the first of their batches was asked for,
        where others came before: an evaluation's, which nothing told from a training until now."""
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
