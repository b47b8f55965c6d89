"""Steps and waits for input of a thread that trains.

A step goes from the end of the one before to the next call for a batch after the optimizer's step;
where the optimizer steps again without one, to the optimizer's last step; where no optimizer is
seen, to the next batch of the source that leads. Between an evaluation and the next training batch
there is no step.
"""
import itertools

from . import events, input_work, interpreter_lock, ranks
from .events import BATCH, EVALUATION, KERAS, OPTIMIZER, now, ran, record, write
from .sources import Sources, reference
from .withheld import Withheld

_PATIENCE = 64  # batches of a program that has an optimizer, none of whose steps is seen


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

    def by_optimizer(self):
        return self.optimizer_stepped or (self.optimizer_made and not self.hidden_optimizer)


marks = Marks()


class ThreadOfWork:
    """One thread's. `trains`: its waits are the training's; else they are withheld."""

    def __init__(self, lane, trains, worker):
        self.passes = False  # its calls for batches go untold: it is within one, or nobody asks
        self.main = False
        self.shown = False  # to train
        self.relays = False  # batches that another thread fetches
        self.trains = trains
        self.thread = lane
        self.lane = events.Lane(lane)
        self.withheld = Withheld(self.lane, worker)
        self.sources = Sources()
        self.mode = BATCH
        self.keras = []  # Keras' loops that run, the inner one last
        self.how = None  # of the wait that has begun
        self.begin = 0
        self.ran = 0  # when it began
        self.source = None  # that is asked,
        self.asked = None  # by this iterator (a reference),
        self.gradients = True  # with gradients recorded or not
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

    def wait_begins(self, how, iterator):
        begin = self.begin = now()
        self.how = how
        gradients = how.gradients is None or how.gradients()
        if self.asked is None or self.asked() is not iterator or self.gradients is not gradients:
            self._look(how, iterator, gradients)
        source = self.source
        records = b''
        if self.mode == OPTIMIZER:
            if marks.compiled_step and self.trains:
                marks.compiled_step = False
                self._optimizer_stepped(None, begin)
            if self.stepped:
                records = self._step(begin)
        elif self.mode == BATCH:
            if source is self.sources.leader:
                if self.got:
                    records = self._step(begin)
            elif self.other is None:
                self.other = begin
        name = how.name
        if (not source.training or self.keras) and self._evaluates(source):
            name = EVALUATION
            records += self._evaluation_begins()
        elif self.step_begin is None:
            self.step_begin = begin
        if self.trains:
            opened = record(self.lane.open_waits[name], begin, 0, 0)
            write(records + opened if records else opened)
        self.ran = ran()

    def wait_ends(self, got):
        """`got`: a batch came; False: there are no more; None: it was none that was asked for."""
        own = ran() - self.ran
        end = now()
        source = self.source
        records = b''
        if got:
            if self.mode != KERAS:
                if self.sources.took(source, self.mode == OPTIMIZER, self.begin):
                    records = self._evaluation_begins()
                if source is self.sources.leader:
                    self.got = True
            if not marks.optimizer_stepped and self.mode == OPTIMIZER:
                self._look_for_optimizer(source)
        elif got is False:
            source.exhausted = True
        name = self.how.name
        if (not source.training or self.keras) and self._evaluates(source):
            name = EVALUATION
        if self.trains:
            closed = record(self.lane.waits[name], self.begin, end, own)
            write(records + closed if records else closed)
        else:
            self.withheld.add(name, self.begin, end, own)

    def optimizer_stepped(self, optimizer):
        """`optimizer`: tells whether it is the same again."""
        if not marks.optimizer_stepped:
            marks.optimizer_stepped = True
        if not self.keras:
            if self.mode != OPTIMIZER:
                self._change(OPTIMIZER)
            records = self._optimizer_stepped(optimizer, now())
            if records:
                write(records)

    def keras_begins(self, loop):
        """'train', 'test' or 'predict'."""
        if loop == 'train':
            self.keras = []  # one that failed has not ended
        self.keras.append(loop)
        self._change(KERAS)

    def keras_ends(self):
        if self.keras:
            self.keras.pop()
        self._change(KERAS)

    def keras_batch_begins(self):
        if self.step_begin is None:
            self.step_begin = now()

    def keras_batch_ended(self):
        if self.keras[-1:] == ['train'] and self.step_begin is not None:
            write(self._step(now()))

    def proves_to_train(self):
        self.trains = True
        self.passes = False
        for name, begin, end, own in self.withheld.take():
            write(record(self.lane.waits[name], begin, end, own))

    def ends(self):
        """The program does."""
        if self.trains and self.stepped and self.mode == OPTIMIZER:
            write(self._step(self.last_step))
        if self.trains and self.mode == OPTIMIZER and self.how is None:
            events.tell('Steps were seen, but no call for a batch by their thread: it takes its input '
                        'from another thread, or from what is not hooked.')
        self.withheld.give_up()

    # How it is done. What returns records leaves it to the caller to write them.

    def _look(self, how, iterator, gradients):
        """Which source another iterator than before belongs to."""
        mode = KERAS if self.keras else OPTIMIZER if marks.by_optimizer() else BATCH
        if mode != self.mode:
            self._change(mode)
        thing = how.thing_of(iterator) if how.thing_of is not None else None
        by_loop = thing is None or mode == BATCH
        self.source = self.sources.find(iterator if thing is None else thing, gradients, by_loop)
        self.asked = reference(iterator)
        self.gradients = gradients

    def _change(self, mode):
        self._forget()
        self.sources.clear()
        self.asked = None
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
        begin = self.sources.optimized()
        if begin is not None and self.step_begin is not None:
            self.step_begin = max(self.step_begin, begin)
        return records

    def _look_for_optimizer(self, source):
        if source.gradients:
            self.since_optimizer += 1
            if self.since_optimizer > _PATIENCE:
                marks.hidden_optimizer = True
                self.asked = None
                events.tell('An optimizer was made, but none of its steps is seen: a step is what '
                            'lies between two batches.')

    def _step(self, end):
        records = b''
        if self.trains and self.step_begin is not None:
            records = record(self.lane.steps[self.mode], self.step_begin, end, next(marks.steps))
            interpreter_lock.start()
            input_work.watch_trainer()
            ranks.tell(self.thread)
        self._forget()
        self.step_begin = end
        self.sources.step()
        return records
