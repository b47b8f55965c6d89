"""Batches and errors as they travel over Arrow Flight."""
from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.flight

from recpack_io import errors
from recpack_io.feeding.made import Begun, Made
from recpack_io.flight.unfinished import Finishers

_ABOUT = b'recpack'
_PARTS = ('ids', 'mask', 'sources')  # of a batch, beside its arrays
_KINDS = {kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type) and
          issubclass(kind, errors.RecpackError)}


def to_begun(text: bytes) -> tuple[Begun, dict[str, dict[str, Any]]]:
    """Parses the result of begun_text()."""
    about = json.loads(text)
    finish = about.pop('finish')
    about['arrays'] = [(name, kind, tuple(shape), rows) for name, kind, shape, rows in about['arrays']]
    return Begun(**about), finish


def begun_text(begun: Begun, finish: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Returns it, and what finishes its images (unfinished.left()), as JSON."""
    return json.dumps({**asdict(begun), 'finish': finish}).encode()


def _to_column(array: np.ndarray) -> pa.Array:
    """Returns an array's bytes as one value, without a copy."""
    ends = pa.py_buffer(np.array([0, array.nbytes], np.int64))
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(array.reshape(-1).view(np.uint8))])


def to_stream(made: Made) -> pa.flight.RecordBatchStream:
    """Returns a batch as a stream of one row, whose columns are the bytes of its arrays."""
    arrays = {**{name: getattr(made, name) for name in _PARTS}, **made.arrays}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    about = {'token': made.token, 'audit': made.audit,
             'arrays': [(array.dtype.str, array.shape) for array in arrays.values()]}
    schema = pa.schema([(name, pa.large_binary()) for name in arrays], {_ABOUT: json.dumps(about)})
    row = pa.record_batch([_to_column(array) for array in arrays.values()], schema=schema)
    return pa.flight.RecordBatchStream(pa.RecordBatchReader.from_batches(schema, [row]))


def to_made(reader: pa.flight.FlightStreamReader, finishers: Finishers) -> Made:
    """Receives a batch; its arrays, finished images apart, lie where they were received, and are read-only."""
    about = json.loads(reader.schema.metadata[_ABOUT])
    row = reader.read_chunk().data
    arrays = []
    for column, (kind, shape) in zip(row.columns, about['arrays'], strict=True):
        data = column.buffers()[2]  # None: it is empty
        arrays.append(np.frombuffer(b'' if data is None else data, np.dtype(kind)).reshape(shape))
    ids, mask, sources, *others = arrays
    return Made(finishers(dict(zip(row.schema.names[len(_PARTS):], others))), ids, mask, sources, about['token'], about['audit'])


def to_flight_error(error: Exception) -> pa.flight.FlightError:
    """Returns the error of a call, as its client can read it."""
    about = {'kind': type(error).__name__, 'text': str(error)}
    if isinstance(error, errors.RecpackError):
        about |= {name: getattr(error, name, None) for name in ('reason', 'advice', 'path', 'offset', 'ordinal')}
    return pa.flight.FlightServerError(str(error), json.dumps(about).encode())


def from_flight_error(error: pa.flight.FlightError, where: str) -> Exception:
    """Returns what the program gets for an error of the server `where`.

    Errors of recpack_io are of their own kind, with their place. Others are a RuntimeError that names their kind.
    """
    try:
        about: dict[str, Any] = json.loads(error.extra_info)
    except ValueError:
        return RuntimeError(f'{where}: {error}')
    kind = _KINDS.get(about['kind'])
    if kind is None:
        return RuntimeError(f'{where}: {about["kind"]}: {about["text"]}')
    found = kind(about['text'])
    for name in ('reason', 'advice', 'path', 'offset', 'ordinal'):
        setattr(found, name, about.get(name))
    errors.add_note(found, f'in {where}')
    return found
