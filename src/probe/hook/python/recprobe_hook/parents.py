"""Records which process started this one, so that its work counts as that of its trainer."""
import _thread

from . import events
from .events import now, record, write


def write_parent(process):
    """`process`: the number of the one whose code started this one, also where a fork server made it."""
    try:
        when = now()
        write(record(events.record_head(events.RANGE, 0, _thread.get_native_id(), events.PARENT), when, when, process))
    except Exception as error:
        events.notice('For which trainer this process works is not known: %r' % error)
