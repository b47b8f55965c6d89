"""Rows: records as dictionaries of plain Python values, for frameworks of tables."""
from __future__ import annotations

from typing import Any

from recpack_io import _core


def row_of(record: _core.Record) -> dict[str, Any]:
    """Returns a record as a row: single values as such, several as lists."""
    row = {}
    for name in record:
        values = record[name]
        if isinstance(values, list):  # several bytes values
            row[name] = [bytes(value) for value in values]
        elif values.dtype == 'uint8':  # one
            row[name] = values.tobytes()
        else:
            row[name] = values.tolist() if len(values) != 1 else values[0].item()
    return row
