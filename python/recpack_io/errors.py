"""Exceptions and warnings of recpack: messages say what failed, where, and what to do."""
from __future__ import annotations

import re
import sys
import warnings


class DatasetWarning(UserWarning):
    """The names of a data set's files do not say to which split they belong."""


class RecpackError(Exception):
    """Base class of all errors of this package.

    Attributes:
        reason: What failed.
        advice: What to do about it.
        path: File, if known.
        offset: Position in the file in bytes, if known.
        ordinal: Number of the record in the file, if known.
    """

    reason: str = ''
    advice: str = ''
    path: str | None = None
    offset: int | None = None
    ordinal: int | None = None

    def __reduce__(self):
        return (_restore, (type(self), self.args, dict(self.__dict__)))


class InvalidArgumentError(RecpackError, ValueError):
    """An argument is invalid."""


class NotFoundError(RecpackError, FileNotFoundError):
    """A file, split or feature does not exist."""


class CorruptError(RecpackError, ValueError):
    """Data violates its format."""


class IoError(RecpackError, OSError):
    """An operating system call failed."""


class UnsupportedError(RecpackError, NotImplementedError):
    """A valid request that this library does not support."""


class DeviceError(RecpackError, RuntimeError):
    """An accelerator failed."""


_KINDS = {'invalid argument': InvalidArgumentError, 'not found': NotFoundError,
          'corrupt': CorruptError, 'I/O': IoError, 'unsupported': UnsupportedError,
          'device': DeviceError}


# Maps command line options in messages to arguments.
_ARGUMENTS = {
    '--append': 'append=True', '--check-images': 'check_images=True', '--column': 'columns',
    '--field': 'fields', '--filter': 'filters', '--from': 'kind', '--label-offset 1':
    'label_offset=1', '--layout classes': 'layout="classes"', '--layout splits': 'layout="splits"',
    '--on-error skip': 'max_skip=0.001', '--overwrite': 'overwrite=True',
    '--shape 3x32x32': 'shape=(3, 32, 32)', 'shard-size': 'shard_bytes',
    **{f'--{name.replace("_", "-")}': name for name in (
        'devkit', 'jpeg', 'label_offset', 'labels', 'layout', 'max_tokens', 'resize', 'seed',
        'split', 'splits', 'vocabulary', 'vocabulary_file')},
    'run the same command again': 'make the same call again'}
_OPTION = re.compile('|'.join(rf'(?<![\w-]){re.escape(each)}(?![\w-])' for each in
                              sorted(_ARGUMENTS, key=len, reverse=True)))

# A program that keeps no batch itself does not know who does.
_HELD_BY_JAX = ('; JAX holds the arrays of all steps that it has not computed yet: iterate over a '
                'recpack_io.jax.Loader, which copies them')


def in_python(text: str) -> str:
    """Replaces names of command line options in a message by arguments.

    Whole commands are kept.
    """
    def said(clause: str) -> str:
        if 'recpack pack ' in clause:
            return clause
        return _OPTION.sub(lambda found: _ARGUMENTS[found[0]], clause)
    return '; '.join(map(said, text.split('; ')))


def from_core(kind: str, what: str, reason: str, advice: str, path: str, offset: int | None,
              ordinal: int | None) -> RecpackError:
    """Returns the exception for a C++ error, whose `what` ends with reason and advice."""
    said = reason + ('; ' + advice if advice else '')
    reason, advice = in_python(reason), in_python(advice)
    if 'max_live_batches' in reason and 'jax' in sys.modules:
        advice += _HELD_BY_JAX
    what = what.removesuffix(said) + reason + ('; ' + advice if advice else '')
    error = _KINDS.get(kind, RecpackError)(what)
    error.reason, error.advice, error.path = reason, advice, path or None
    error.offset, error.ordinal = offset, ordinal
    return error


def add_note(error: BaseException, note: str) -> None:
    """Adds a note that says where a user function raised (Python 3.11 and later)."""
    if hasattr(error, 'add_note') and note not in getattr(error, '__notes__', ()):
        error.add_note(note)


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warns at the line of the program that called this package."""
    frame, level = sys._getframe(1), 2  # 1 is this function
    while frame.f_back is not None and frame.f_globals.get('__name__', '').partition('.')[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def _restore(kind: type[RecpackError], args: tuple, state: dict) -> RecpackError:
    error = kind(*args)
    error.__dict__.update(state)
    return error
