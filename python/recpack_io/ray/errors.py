"""Errors of tasks and actors, as their caller sees them."""
from __future__ import annotations

import ray

from recpack_io.errors import RecpackError, add_note, from_core


def in_caller(error: Exception, where: str, advice: str) -> Exception:
    """Returns what to raise for an exception of ray.get().

    Args:
        error: The exception.
        where: The task or actor, for the message: "task 3 of 8".
        advice: What to do if its worker or node was lost.
    """
    if isinstance(error, ray.exceptions.RayTaskError):
        cause = error.cause
        if not isinstance(cause, RecpackError):
            return error
        add_note(cause, f'in {where} on the Ray cluster')
        return cause
    reason = lost(error, where)
    return from_core('I/O', f'{reason}; {advice}', reason, advice, '', None, None)


def lost(error: Exception, where: str) -> str:
    """Returns why the task or actor was lost."""
    first_line = str(error).strip().partition('\n')[0]
    return f'{where} was lost by the Ray cluster: {type(error).__name__}: {first_line}'
