"""Records steps and input waits of a thread that trains.

A step begins at the end of the previous one. It ends at the first request for a batch after the
optimizer's step; if the optimizer steps again without a request, at the optimizer's last step; if
no optimizer is seen, at the next batch of the leading source. There is no step between an
evaluation and the next training batch.
"""
import itertools
import sys

from . import events, exchange, input_work, interpreter_lock, ranks, settings
from .events import BATCH, EVALUATION, KERAS, OPTIMIZER, now, ran, record, write
from .sources import Sources, reference
from .withheld import Withheld

_PATIENCE = 64  # batches without a step of the program's optimizer, before it counts as hidden


class Marks:
    """Facts about the program's optimizers, for all threads."""

    def __init__(self):
        self.optimizer_made = False
        self.hidden_optimizer = False  # its steps are not seen
        self.reset()

    def reset(self):
        self.optimizer_stepped = False
        self.compiled_step = False  # since the last batch, in code of torch.compile
        self.steps = itertools.count()

    def by_optimizer(self):
        return self.optimizer_stepped or (self.optimizer_made and not self.hidden_optimizer)


marks = Marks()


class ThreadOfWork:
    """Steps and waits of one thread. `trains`: its waits are the training's; else they are
    withheld."""

    def __init__(self, lane, trains, worker):
        self.passes = False  # ignores requests: one is in progress, or they are not of interest
        self.main = False
        self.shown = False  # has shown that it trains
        self.relays = False  # takes batches that another thread fetches
        self.trains = trains
        self.thread = lane
        self.lane = events.Lane(lane)
        self.withheld = Withheld(self.lane, worker)
        self.sources = Sources()
        self.mode = BATCH
        self.keras = []  # running Keras loops, the inner one last
        self.how = None  # How of the wait in progress
        self.begin = 0
        self.ran = 0  # CPU time at its begin
        self.source = None  # source of the last request,
        self.asked = None  # its iterator (a reference),
        self.gradients = True  # and whether gradients were recorded
        self.since_optimizer = 0
        self._forget()

    def _forget(self):
        self.step_begin = None
        self.stepped = False  # an optimizer has stepped in this step
        self.optimizers = set()
        self.last_step = 0
        self.got = False  # the leader has returned a batch in this step
        self.other = None  # time of the first request to another source in this step

    # Called by the hooks.

    def wait_begins(self, how, iterator):
        begin = self.begin = now()
        self.how = how
        gradients = how.gradients is None or how.gradients()
        if self.asked is None or self.asked() is not iterator or self.gradients is not gradients:
            self._find_source(how, iterator, gradients)
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
        """`got`: True: got a batch; False: there are no more; None: the call returns no batch."""
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
                self._check_hidden_optimizer(source)
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
        """`optimizer`: identifies the optimizer."""
        if not marks.optimizer_stepped:
            marks.optimizer_stepped = True
        if not self.keras:
            if self.mode != OPTIMIZER:
                self._change(OPTIMIZER)
            records = self._optimizer_stepped(optimizer, now())
            if records:
                write(records)

    def keras_begins(self, loop):
        """`loop`: 'train', 'test' or 'predict'."""
        if loop == 'train':
            self.keras = []  # drops loops that failed and so have not ended
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
        """Writes the last step at the end of the program."""
        if self.trains and self.stepped and self.mode == OPTIMIZER:
            write(self._step(self.last_step))
        # recpack's own loader reports its waits itself.
        if self.trains and self.mode == OPTIMIZER and self.how is None and 'recpack_io.loading' not in sys.modules:
            events.notice('Steps were seen, but their thread requested no batch: it takes its '
                          'input from another thread, or from a library that is not hooked.')
        self.withheld.give_up()

    # Implementation. Callers write the records that are returned.

    def _find_source(self, how, iterator, gradients):
        """Finds the source of a different iterator than before."""
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
        """Discards the requests since the last step, which belong to no step."""
        records = b''
        if self.mode == BATCH and self.got:
            records = self._step(self.other if self.other is not None else self.begin)
        self._forget()
        return records

    def _optimizer_stepped(self, optimizer, when):
        records = b''
        if self.step_begin is None:  # without input: its begin is unknown
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

    def _check_hidden_optimizer(self, source):
        if source.gradients:
            self.since_optimizer += 1
            if self.since_optimizer > _PATIENCE:
                marks.hidden_optimizer = True
                self.asked = None
                events.notice('An optimizer was created, but its steps are not seen: a step is '
                              'from one batch to the next.')

    def _step(self, end):
        records = b''
        if self.trains and self.step_begin is not None:
            records = record(self.lane.steps[self.mode], self.step_begin, end, next(marks.steps))
            interpreter_lock.start()
            input_work.watch_trainer()
            ranks.write_once(self.thread)
            exchange.stepped(self.thread)
            if self.how is not None:
                settings.write_once(self.thread, self.how.name)
        self._forget()
        self.step_begin = end
        self.sources.step()
        return records
