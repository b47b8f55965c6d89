"""Ray Data: a data set as its source, and shards as what it writes. The order of rows is Ray's."""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ray.data import Datasink as _Datasink
from ray.data import Datasource as _Datasource
from ray.data import ReadTask
from ray.data.block import BlockAccessor, BlockMetadata

import recpack_io
from recpack_io.adapting.parts import Parts
from recpack_io.adapting.rows import row_of

_ROWS_AT_A_TIME = 256  # of a block that is read
_NO_LIMIT = 1 << 62  # bytes of a shard


class Datasource(_Datasource):
    """Reads a data set in Ray Data: ray.data.read_datasource(Datasource("shards")).

    Rows are the records in their order: numbers, bytes, and lists of them, by feature. Ray Data
    keeps the order of rows only where it says so.

    Args:
        path, **options: As for recpack_io.open().
        columns: Features to read; others are left out. Default: all.
    """

    def __init__(self, path: str | os.PathLike, *, columns: list[str] | None = None, **options: Any):
        super().__init__()
        self._dataset = recpack_io.open(path, **options)
        self._columns = columns

    def estimate_inmemory_data_size(self) -> int:
        """Returns the size of the shards."""
        return self._dataset.nbytes

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        """Divides the records into `parallelism` contiguous parts, or fewer."""
        total = len(self._dataset)
        parts = max(1, min(parallelism, total))
        bounds = [total * i // parts for i in range(parts + 1)]
        return [self._read_task(begin, end) for begin, end in zip(bounds, bounds[1:])]

    def _read_task(self, begin: int, end: int) -> ReadTask:
        dataset, columns = self._dataset, self._columns

        def read() -> Iterator[Any]:
            import pyarrow
            for first in range(begin, end, _ROWS_AT_A_TIME):
                rows = [row_of(record) for record in dataset[first:min(first + _ROWS_AT_A_TIME, end)]]
                if columns is not None:
                    rows = [{name: row[name] for name in columns} for row in rows]
                yield pyarrow.Table.from_pylist(rows)
        share = (end - begin) / max(1, len(dataset))
        return ReadTask(read, BlockMetadata(num_rows=end - begin, size_bytes=int(dataset.nbytes * share),
                                            input_files=None, exec_stats=None))


class Datasink(_Datasink):
    """Writes a Ray Dataset as a data set: ds.write_datasink(Datasink("shards")).

    Each of Ray's write tasks makes a shard; their order, and that of the records in them, is Ray's.
    Shards, index and manifest appear once all are written; a failed write leaves none.

    Args:
        out: Folder, made if needed, on a file system that every node sees at the same path; or an
            s3:// or gs:// URL. It may have a data set with other splits.
        split: Name of the split.
        rows_per_shard: Approximate number of records in a shard.
    """

    def __init__(self, out: str | os.PathLike, *, split: str = 'train', rows_per_shard: int | None = None):
        self._parts, self._rows = Parts(out, split, shard_bytes=_NO_LIMIT), rows_per_shard

    @property
    def min_rows_per_write(self) -> int | None:
        """Returns rows_per_shard."""
        return self._rows

    def on_write_start(self, *_: Any, **__: Any) -> None:
        """Makes the folder, and refuses one with that split."""
        self._parts.begin()

    def write(self, blocks: Iterable[Any], ctx: Any) -> str | None:
        """Writes the blocks of the task `ctx` as a shard; returns its name among the parts, or None without rows."""
        rows = ({key: value for key, value in row.items() if value is not None} for block in blocks
                for row in BlockAccessor.for_block(block).iter_rows(public_row_format=True))
        return self._parts.write(ctx.task_idx, rows)

    def on_write_complete(self, write_result: Any) -> None:
        """Makes a data set of the shards, whose names among the parts write_result has."""
        self._parts.publish(name for name in write_result.write_returns if name)

    def on_write_failed(self, error: Exception) -> None:
        """Removes what was written, whatever the error."""
        self._parts.discard()
