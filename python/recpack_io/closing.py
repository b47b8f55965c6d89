"""Closing: loaders that are open are closed before the interpreter ends."""
from __future__ import annotations

import atexit
import threading
import weakref
from typing import TYPE_CHECKING

from recpack_io import _core

if TYPE_CHECKING:
    from recpack_io.loading import Loader

# `threading` is imported here, not first by a function in a worker: the interpreter would take the worker for its main
# thread and wait for its end before it closes anything.

# By id. Other threads may change it concurrently.
open_loaders: dict[int, weakref.ref[Loader]] = {}


@atexit.register
def _close_all() -> None:
    """Closes all loaders before the interpreter ends, which their threads may call."""
    for there in list(open_loaders.values()):
        if (loader := there()) is not None:
            loader.close()
    _core.await_endings()
    if any(thread.daemon for thread in threading.enumerate()):
        _core.set_leak_warnings(False)  # daemon threads never release what they hold
