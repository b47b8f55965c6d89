"""What recpack raises. Every error says what, where and what to do; its attributes say it apart."""
from __future__ import annotations


class RecpackError(Exception):
    """Base of all. `path`, `offset` (bytes from the start of the file) and `ordinal` (records from
    its start) say where, None where that is not known; `reason` what, `advice` what to do."""

    reason: str = ''
    advice: str = ''
    path: str | None = None
    offset: int | None = None
    ordinal: int | None = None

    def __reduce__(self):
        return (_restore, (type(self), self.args, dict(self.__dict__)))


class InvalidArgumentError(RecpackError, ValueError):
    """The caller asked for something that cannot be."""


class NotFoundError(RecpackError, FileNotFoundError):
    """A file, split or feature is not there."""


class CorruptError(RecpackError, ValueError):
    """Bytes are not what their format says."""


class IoError(RecpackError, OSError):
    """The operating system refused or failed."""


class UnsupportedError(RecpackError, NotImplementedError):
    """Valid, but not something this library does."""


class DeviceError(RecpackError, RuntimeError):
    """An accelerator failed."""


_KINDS = {'invalid argument': InvalidArgumentError, 'not found': NotFoundError,
          'corrupt': CorruptError, 'I/O': IoError, 'unsupported': UnsupportedError,
          'device': DeviceError}


def from_core(kind: str, what: str, reason: str, advice: str, path: str, offset: int | None,
              ordinal: int | None) -> RecpackError:
    """The exception for an error of the C++ library."""
    error = _KINDS.get(kind, RecpackError)(what)
    error.reason, error.advice, error.path = reason, advice, path or None
    error.offset, error.ordinal = offset, ordinal
    return error


def add_note(error: BaseException, note: str) -> None:
    """Says where a function of the user raised, from Python 3.11 on."""
    if hasattr(error, 'add_note') and note not in getattr(error, '__notes__', ()):
        error.add_note(note)


def _restore(kind: type[RecpackError], args: tuple, state: dict) -> RecpackError:
    error = kind(*args)
    error.__dict__.update(state)
    return error
