"""Data source of Spark: data frames are written as shards, and shards read as data frames.

    spark.dataSource.register(recpack_io.spark.DataSource)
    df.write.format("recpack").mode("append").save("/shared/shards")
    df = spark.read.format("recpack").load("/shared/shards")

Paths must be those of a file system that every node sees at the same place, or s3:// or gs:// URLs.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import TaskContext
from pyspark.sql import Row
from pyspark.sql import datasource as _spark
from pyspark.sql import types

import recpack_io
from recpack_io.adapting.parts import Parts
from recpack_io.adapting.rows import row_of
from recpack_io.errors import InvalidArgumentError, UnsupportedError

__all__ = ['DataSource']

_PARTITION_BYTES = 64 << 20
_ROWS_AT_A_TIME = 256
_OF_KINDS = {'int64': types.LongType, 'float': types.FloatType, 'bytes': types.BinaryType}
_INTEGERS = types.ByteType, types.ShortType, types.IntegerType, types.LongType
_FLOATS = types.FloatType, types.DoubleType
# What a value of a feature becomes, by type of the column.
_CONVERSIONS = {types.BooleanType: bool, types.StringType: bytes.decode,
                **dict.fromkeys(_INTEGERS, int), **dict.fromkeys(_FLOATS, float), types.BinaryType: bytes}
_PACKING = {'shard_bytes': int, 'compression': str, 'level': int}
_OPENING = {'split': str, 'fields': str, 'label_offset': int}


def _path(options: dict[str, str]) -> str:
    if not options.get('path'):
        raise InvalidArgumentError('there is no path: give it to load() or save()')
    return options['path'].removeprefix('file://')


def _given(options: dict[str, str], known: dict[str, Any]) -> dict[str, Any]:
    return {name: kind(options[name]) for name, kind in known.items() if name in options}


def _values(name: str, column: types.DataType) -> types.DataType:
    """Returns the type of a column's values.

    Raises:
        UnsupportedError: If records cannot hold them.
    """
    of = column.elementType if isinstance(column, types.ArrayType) else column
    if type(of) not in _CONVERSIONS:
        raise UnsupportedError(f'column {name!r} is {column.simpleString()}, which no feature can hold: select others, or '
                               'cast it to numbers, strings, binary, or arrays of these')
    return of


def _schema(features: dict[str, recpack_io.Feature]) -> types.StructType:
    """Returns the columns of features, whose numbers of values are those of 100 records."""
    columns = []
    for name, feature in features.items():
        if feature.kind not in _OF_KINDS:
            raise UnsupportedError(f'feature {name!r} is {feature.kind} in 100 records: give the reader a schema')
        one = _OF_KINDS[feature.kind]()
        several = feature.max_length > 1
        columns.append(types.StructField(name, types.ArrayType(one, False) if several else one))
    return types.StructType(columns)


def _value(name: str, value: Any, column: types.DataType) -> Any:
    convert = _CONVERSIONS[type(_values(name, column))]
    if isinstance(column, types.ArrayType):
        return [convert(each) for each in (value if isinstance(value, list) else [value])]
    if not isinstance(value, list):
        return convert(value)
    if not value:
        return None
    raise InvalidArgumentError(f'feature {name!r} has {len(value)} values in a record, and its column is '
                               f'{column.simpleString()}: give the reader a schema with array<{column.simpleString()}>')


@dataclass
class _Range(_spark.InputPartition):
    begin: int
    end: int

    def __init__(self, begin: int, end: int):
        super().__init__((begin, end))
        self.begin, self.end = begin, end


class _Reader(_spark.DataSourceReader):
    def __init__(self, path: str, schema: types.StructType, options: dict[str, str]):
        for column in schema.fields:
            _values(column.name, column.dataType)
        self._schema, self._dataset = schema, recpack_io.open(path, **_given(options, _OPENING))
        self._parts = int(options.get('partitions', 0))

    def partitions(self) -> Sequence[_Range]:
        """Divides the records into contiguous parts."""
        total = len(self._dataset)
        parts = self._parts or -(-self._dataset.nbytes // _PARTITION_BYTES)
        parts = max(1, min(parts, total))
        bounds = [total * i // parts for i in range(parts + 1)]
        return [_Range(begin, end) for begin, end in zip(bounds, bounds[1:])]

    def read(self, partition: _Range) -> Iterator[tuple]:
        """Reads the records of a part; a feature that is missing is null."""
        columns = [(column.name, column.dataType) for column in self._schema.fields]
        for first in range(partition.begin, partition.end, _ROWS_AT_A_TIME):
            for record in self._dataset[first:min(first + _ROWS_AT_A_TIME, partition.end)]:
                row = row_of(record)
                yield tuple(_value(name, row[name], column) if name in row else None for name, column in columns)


@dataclass
class _Written(_spark.WriterCommitMessage):
    part: str | None


class _Writer(_spark.DataSourceWriter):
    def __init__(self, parts: Parts):
        self._parts = parts
        parts.begin()

    @staticmethod
    def _features(row: Row) -> dict[str, Any]:
        # A list without values would be a feature without a kind.
        return {name: value for name, value in row.asDict().items() if value is not None and value != []}

    def write(self, iterator: Iterator[Row]) -> _Written:
        """Writes the rows of a task's attempt as shards of its own."""
        context = TaskContext.get()
        task = context.partitionId() if context is not None else 0
        return _Written(self._parts.write(task, map(self._features, iterator)))

    def commit(self, messages: Iterable[Any]) -> None:
        """Makes a data set of what the attempts wrote that Spark counts, one for each task."""
        self._parts.publish(message.part for message in messages if message is not None and message.part)

    def abort(self, messages: Iterable[Any]) -> None:
        """Removes what was written."""
        self._parts.discard()


class DataSource(_spark.DataSource):
    """The format "recpack", to be given to spark.dataSource.register().

    Reading: options `split`, `fields` and `label_offset` as in recpack_io.open(), `partitions`:
    number of contiguous parts (default: one per 64 MB). Columns are long, float or binary, or arrays
    of these where 100 records have several values; a schema of the reader's own may also say string,
    boolean, int and double, and leave columns out. Records without a feature have null.

    Writing: mode "append" into an empty folder, or one whose data set lacks the split, or
    "overwrite", which removes the data set there once the new one is complete; a folder may be a URL of an object store.
    Options `split`, `shard_bytes`, `compression` and `level` as in recpack_io.pack(). Integers and booleans become int64,
    floating-point numbers float32, strings UTF-8; null and empty arrays are left out. Each partition makes shards, in
    order of the partitions.
    Attempts that failed or were repeated leave nothing; the manifest comes last, at the commit. A data
    frame without rows changes nothing.
    """

    @classmethod
    def name(cls) -> str:
        """Returns "recpack"."""
        return 'recpack'

    def schema(self) -> types.StructType:
        """Returns the columns of the data set's features."""
        return _schema(recpack_io.open(_path(self.options), **_given(self.options, _OPENING)).schema)

    def reader(self, schema: types.StructType) -> _Reader:
        """Returns what reads the columns of the schema."""
        return _Reader(_path(self.options), schema, self.options)

    def writer(self, schema: types.StructType, overwrite: bool) -> _Writer:
        """Returns what writes the columns of the schema; `overwrite` removes the data set that is there."""
        for column in schema.fields:
            _values(column.name, column.dataType)
        return _Writer(Parts(_path(self.options), self.options.get('split', 'train'), overwrite=overwrite,
                                **_given(self.options, _PACKING)))
