"""Times waits at queues between a thread that fetches batches and the one that trains.

Only queues filled by a thread that has fetched batches, or has taken them from such a queue, count
as input.
"""
import sys

from . import events
from .threads import is_background, relays
from .wrap import How, replace, time_method


def _gradients():
    torch = sys.modules.get('torch')
    recorded = getattr(torch, 'is_grad_enabled', None)
    return recorded is None or recorded()


def _marking(put):
    def put_by_recprobe(self, *args, **kwargs):
        if is_background():
            self._recprobe_input = True
        return put(self, *args, **kwargs)

    return put_by_recprobe


def patch(module):
    replace(module.Queue, 'put', _marking)
    time_method(module.Queue, 'get', How(
        events.QUEUE, gradients=_gradients,
        applies=lambda one: getattr(one, '_recprobe_input', False) and relays()))
