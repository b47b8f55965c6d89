"""Records this process's rank and world size, if torch.distributed is initialized."""
import sys

from . import events
from .events import now, record, write

_SIZE = 32  # shift of the world size; the rank is below


class _State:
    recorded = False


def write_once(thread):
    """Writes the rank, once. To be called at each step, as the program may join the group late."""
    if _State.recorded:
        return
    try:
        distributed = sys.modules.get('torch.distributed')
        if distributed is None or not distributed.is_available() or \
                not distributed.is_initialized():
            return
        _State.recorded = True
        size = distributed.get_world_size()
        if size > 1:
            when = now()
            write(record(events.record_head(events.RANGE, 0, thread, events.RANK), when, when,
                         size << _SIZE | distributed.get_rank()))
    except Exception as error:
        _State.recorded = True
        events.notice('The rank of this process is not known: %r' % error)


def after_fork():
    _State.recorded = False
