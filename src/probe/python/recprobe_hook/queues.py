"""Queues between a thread that fetches batches and the one that trains, which waits for them there.

Only those into which a thread puts something that has fetched batches, or has taken them from such
a queue: what else a program has queues for is no input.
"""
import functools
import sys

from . import events
from .threads import is_background, relays
from .wrap import How, time_method


def _gradients():
    torch = sys.modules.get('torch')
    recorded = getattr(torch, 'is_grad_enabled', None)
    return recorded is None or recorded()


def patch(module):
    queue = module.Queue
    put = queue.put
    if hasattr(put, '_recprobe'):
        return

    @functools.wraps(put)
    def put_by_recprobe(self, *args, **kwargs):
        if is_background():
            self._recprobe_input = True
        return put(self, *args, **kwargs)

    put_by_recprobe._recprobe = True
    queue.put = put_by_recprobe
    time_method(queue, 'get', How(
        events.QUEUE, gradients=_gradients,
        applies=lambda one: getattr(one, '_recprobe_input', False) and relays()))
