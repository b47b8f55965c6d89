"""Which of the processes that train together this one is, where torch.distributed says so.

What they wait for each other happens in native code, and is not seen; that they do is told once.
"""
import sys

from . import events
from .events import now, record, write

_SIZE = 32  # bits below the number of processes: the rank


class _State:
    told = False


def tell(thread):
    """At the first step of this thread before which the program has joined the others."""
    if _State.told:
        return
    try:
        distributed = sys.modules.get('torch.distributed')
        if distributed is None or not distributed.is_available() or \
                not distributed.is_initialized():
            return
        _State.told = True
        size = distributed.get_world_size()
        if size > 1:
            when = now()
            write(record(events.record_head(events.RANGE, 0, thread, events.RANK), when, when,
                         size << _SIZE | distributed.get_rank()))
    except Exception as error:
        _State.told = True
        events.tell('Whether this process trains with others is not known: %r' % error)


def after_fork():
    _State.told = False
