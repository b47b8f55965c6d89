"""Reads what DistributedDataParallel measures of its own steps: a rank's own passes, and its wait for the other ranks."""
import weakref

from . import events
from .events import now, record, write

# Steps of which one is measured, as that ends with a synchronisation on a GPU. A prime number: what a program does in each
# tenth or hundredth step is in some of the measured ones.
_EVERY = 11


class _State:
    read = weakref.WeakKeyDictionary()  # by model: the step that was read last
    steps = 0


def watch(model):
    """Asks a model that is new for more measurements than by default."""
    try:
        model._set_ddp_runtime_logging_sample_rate(_EVERY)
        _State.read[model] = None
    except Exception as error:
        events.notice('Waits of ranks for each other are not seen: %r' % error)


def stepped(thread):
    """To be called at each step of a thread that trains. A step is measured when the next one begins."""
    _State.steps += 1
    if not _State.read or _State.steps % _EVERY:
        return
    try:
        for model, last in list(_State.read.items()):
            measured = model._get_ddp_logging_data()
            step = measured.get('iteration')
            waited = measured.get('backward_comm_time', 0) - measured.get('backward_compute_comm_overlap_time', 0)
            own = measured.get('forward_compute_time', 0) + measured.get('backward_compute_time', 0)
            if step == last or waited <= 0 or own <= 0:
                continue
            _State.read[model] = step
            end = now()
            write(record(events.record_head(events.RANGE, 0, thread, events.EXCHANGE), end - waited, end, own))
    except Exception as error:
        _State.read.clear()
        events.notice('Waits of ranks for each other are not seen: %r' % error)
