"""Steps and waits for input of a thread that trains.

A step goes from the end of the one before to the next call for a batch after the optimizer's step;
where the optimizer steps again without one, to the optimizer's last step; where no optimizer is
seen, to the next batch of the source that leads. Between an evaluation and the next training batch
there is no step.
"""
import itertools

from . import events
from .events import BATCH, EVALUATION, KERAS, OPTIMIZER, now, tail, write
from .sources import Sources

_PATIENCE = 64  # batches of a program that has an optimizer, none of whose steps is seen
_WITHHELD = 8  # waits of a thread that may turn out to train


class Marks:
    """How the program's steps are known, in all threads."""

    def __init__(self):
        self.optimizer_made = False
        self.hidden_optimizer = False  # its steps are not seen
        self.begin_anew()

    def begin_anew(self):
        self.optimizer_stepped = False
        self.compiled_step = False  # since the last batch, by code that torch.compile made
        self.steps = itertools.count()


marks = Marks()


def _by_optimizer():
    return marks.optimizer_stepped or (marks.optimizer_made and not marks.hidden_optimizer)


class ThreadOfWork:
    """One thread's. `trains`: its waits are the training's; else they are kept for the case that it
    turns out to train."""

    def __init__(self, lane, trains, drops):
        self.inside = False  # a call for a batch
        self.main = False
        self.shown = False  # to train
        self.trains = trains
        self.drops = drops  # what cannot be kept is dropped, not told as input in the background
        self.lane = events.Lane(lane)
        self.withheld = []
        self.sources = Sources()
        self.mode = BATCH
        self.keras = []  # Keras' loops that run, the inner one last
        self.source = None
        self.name = events.DATA_LOADER
        self.begin = 0
        self.since_optimizer = 0
        self._forget()

    def _forget(self):
        self.step_begin = None
        self.stepped = False  # an optimizer has, in this step
        self.optimizers = set()
        self.last_step = 0
        self.got = False  # a batch of the leader, in this step
        self.other = None  # when another source was asked first, in this step

    # What the hooks call.

    def wait_begins(self, name, thing, gradients, known):
        """`thing`: the data set, where `known`, or the iterator."""
        self.name = name
        begin = self.begin = now()
        mode = KERAS if self.keras else OPTIMIZER if _by_optimizer() else BATCH
        if mode != self.mode:
            self._change(mode)
        source = self.source = self.sources.find(thing, gradients, not known or mode == BATCH)
        evaluation = self._evaluates(source)
        records = b''
        if mode == OPTIMIZER:
            if marks.compiled_step and self.trains:
                marks.compiled_step = False
                self._optimizer_stepped(None, begin)
            if self.stepped:
                records = self._step(begin)
        elif mode == BATCH:
            if source is self.sources.leader:
                if self.got:
                    records = self._step(begin)
            elif self.other is None:
                self.other = begin
        if evaluation:
            records += self._evaluation_begins()
        elif self.step_begin is None:
            self.step_begin = begin
        if self.trains:
            opened = self.lane.open_waits[EVALUATION if evaluation else name]
            write(records + opened + tail(begin, 0))

    def wait_ends(self, got):
        """`got`: a batch came; False: there are no more; None: it was none that was asked for."""
        end = now()
        name = self.name
        source = self.source
        records = b''
        if got:
            if self.sources.took(source, self.mode == OPTIMIZER):
                records = self._evaluation_begins()
            if source is self.sources.leader:
                self.got = True
            if self.mode == OPTIMIZER and not marks.optimizer_stepped:
                self._look_for_optimizer(source)
        elif got is False:
            source.exhausted = True
        if self._evaluates(source):
            name = EVALUATION
        if self.trains:
            write(records + self.lane.waits[name] + tail(self.begin, end))
        else:
            self._withhold(name, end)

    def optimizer_stepped(self, optimizer):
        marks.optimizer_stepped = True
        if not self.keras:
            if self.mode != OPTIMIZER:
                self._change(OPTIMIZER)
            write(self._optimizer_stepped(id(optimizer), now()))

    def keras_begins(self, loop):
        """'train', 'test' or 'predict'."""
        if loop == 'train':
            self.keras = []  # one that failed has not ended
        self.keras.append(loop)
        self._change(KERAS)

    def keras_ends(self):
        if self.keras:
            self.keras.pop()
        self._forget()

    def keras_batch_begins(self):
        if self.step_begin is None:
            self.step_begin = now()

    def keras_batch_ended(self):
        if self.keras[-1:] == ['train'] and self.step_begin is not None:
            write(self._step(now()))

    def proves_to_train(self):
        self.trains = True
        withheld, self.withheld = self.withheld, []
        for name, begin, end in withheld:
            write(self.lane.waits[name] + tail(begin, end))

    def ends(self):
        """The program does."""
        if self.trains and self.stepped and self.mode == OPTIMIZER:
            write(self._step(self.last_step))
        while self.withheld and not self.drops:
            self._tell_background()

    # How it is done. What returns records leaves it to the caller to write them.

    def _change(self, mode):
        self._forget()
        self.sources.clear()
        self.mode = mode

    def _evaluates(self, source):
        if self.mode == KERAS:
            return self.keras[-1:] != ['train']
        if source.training:
            return False
        return source.evaluation or (self.mode == OPTIMIZER and not source.gradients)

    def _evaluation_begins(self):
        """What was asked for since the last step belongs to no step."""
        records = b''
        if self.mode == BATCH and self.got:
            records = self._step(self.other if self.other is not None else self.begin)
        self._forget()
        return records

    def _optimizer_stepped(self, optimizer, when):
        records = b''
        if self.step_begin is None:  # without input: it began nobody knows when
            self.step_begin = when
        else:
            if self.stepped and optimizer in self.optimizers:
                records = self._step(self.last_step)
            self.stepped = True
        self.optimizers.add(optimizer)
        self.last_step = when
        self.sources.optimized()
        return records

    def _look_for_optimizer(self, source):
        if source.gradients:
            self.since_optimizer += 1
            if self.since_optimizer > _PATIENCE:
                marks.hidden_optimizer = True
                events.tell('An optimizer was made, but none of its steps is seen: a step is what '
                            'lies between two batches.')

    def _step(self, end):
        records = b''
        if self.trains and self.step_begin is not None:
            records = self.lane.steps[self.mode] + tail(self.step_begin, end, next(marks.steps))
        self._forget()
        self.step_begin = end
        self.sources.step()
        return records

    def _withhold(self, name, end):
        self.withheld.append((name, self.begin, end))
        if len(self.withheld) > _WITHHELD:
            if self.drops:
                self.withheld.pop(0)
            else:
                self._tell_background()

    def _tell_background(self):
        _, begin, end = self.withheld.pop(0)
        write(self.lane.background + tail(begin, end))
