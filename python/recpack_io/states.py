"""Files of loaders' states."""
from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from typing import Any

from recpack_io.errors import CorruptError, NotFoundError

VERSION = 1


def write_state(path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Writes a state as JSON. The file is replaced atomically, once its bytes are on the disk."""
    unfinished = f'{os.fsdecode(path)}.{os.getpid()}.{threading.get_ident()}'
    try:
        with open(unfinished, 'w', encoding='utf-8') as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the state that write_state() wrote.

    Raises:
        NotFoundError: If there is no such file.
        CorruptError: If it holds no state.
    """
    try:
        with open(path, encoding='utf-8') as file:
            state = json.load(file)
    except FileNotFoundError:
        raise NotFoundError(f'there is no state {os.fspath(path)!r}: save_state() writes it') from None
    except ValueError as error:
        raise CorruptError(f'{os.fspath(path)!r} is no state of a loader: {error}') from None
    if not isinstance(state, dict) or 'token' not in state:
        raise CorruptError(f'{os.fspath(path)!r} is no state of a loader: it has no token')
    return state
