"""HTML representations of data sets and loaders for notebooks, for light and dark themes."""
from __future__ import annotations

import base64
from html import escape

from recpack_io.errors import RecpackError

_WAITING = {'room': 'waits for the program', 'input': 'waits for the disk or the network'}
_SHOWN_CLASSES = 30
_TABLE = 'style="border-collapse:collapse;margin:.4em 0;background:none;font:inherit;color:inherit"'
_CELL = 'style="text-align:left;padding:.1em 1em .1em 0;border:0;background:none"'
_FAINT = 'style="opacity:.7"'


def _rows(rows: list[tuple], head: tuple = ()) -> str:
    """Returns a table. Cells must be HTML already."""
    lines = [(head, 'th')] * bool(head) + [(row, 'td') for row in rows]
    return f'<table {_TABLE}>' + ''.join(
        '<tr style="background:none">' + ''.join(f'<{tag} {_CELL}>{cell}</{tag}>' for cell in cells)
        + '</tr>' for cells, tag in lines) + '</table>'


def size(nbytes: int) -> str:
    """Formats a size: 123,456,789 bytes are "123 MB"."""
    amount, units = float(nbytes), ['B', 'KB', 'MB', 'GB', 'TB']
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    digits = 0 if amount >= 100 or units[0] == 'B' else 1
    return f'{amount:.{digits}f} {units[0]}'


def _range(least: int, most: int) -> str:
    return f'{least:,}' if least == most else f'{least:,} to {most:,}'


def _features(dataset) -> str:
    return _rows([(escape(name), feature.kind, _range(feature.min_length, feature.max_length),
                   _range(feature.min_bytes, feature.max_bytes) if feature.kind == 'bytes' else '')
                  for name, feature in dataset.schema.items()],
                 ('feature', 'type', 'values', 'bytes of a value'))


def _classes(names: list[str]) -> str:
    if not names:
        return ''
    more = len(names) - _SHOWN_CLASSES
    shown = ', '.join(map(escape, names[:_SHOWN_CLASSES]))
    rest = f' and {more:,} more' if more > 0 else ''
    return f'<div>{len(names):,} classes: {shown}{rest}</div>'


def _sheet(dataset) -> str:
    try:
        png = base64.b64encode(dataset.sheet(columns=10, rows=2, cell=64)).decode()
    except RecpackError as error:
        return f'<div {_FAINT}>{escape(str(error))}</div>'
    return (f'<img alt="some records with their labels" style="max-width:100%;margin:.4em 0" '
            f'src="data:image/png;base64,{png}">')


def of_dataset(dataset) -> str:
    others = ', '.join(f'{escape(name)} {records:,}' for name, records in dataset.splits.items()
                       if name != dataset.split)
    beside = f' <span {_FAINT}>(other splits: {others})</span>' if others else ''
    head = (f'<div><b>{escape(dataset.path)}</b>, {escape(dataset.split)}: {len(dataset):,} '
            f'records, {size(dataset.nbytes)}{beside}</div>')
    try:
        features = _features(dataset)
    except RecpackError as error:
        features = f'<div {_FAINT}>{escape(str(error))}</div>'
    return f'<div>{head}{features}{_classes(dataset.class_names)}{_sheet(dataset)}</div>'


def _bar(share: float, waiting: bool) -> str:
    colour = '#8a8f98' if waiting else '#3b82c4'
    return (f'<div style="width:16em;background:rgba(128,128,128,.18)"><div style="width:'
            f'{100 * min(share, 1):.1f}%;height:.8em;background:{colour}"></div></div>')


def of_loader(loader) -> str:
    """Returns a table with a bar per stage: its share of the time of all threads."""
    stats = loader.stats()
    whole = stats['seconds'] * stats['threads'] or 1
    rows = [(escape(_WAITING.get(name, name)), _bar(stage['seconds'] / whole, name in _WAITING),
             f'{stage["seconds"] / whole:.1%}', f'{stage["seconds"]:.3g} s', f'{stage["count"]:,}')
            for name, stage in stats['stages'].items() if stage['count'] or stage['seconds']]
    fields = ', '.join(f'{escape(name)} {kind}{list(shape) if shape else ""}'
                       for name, (kind, shape) in loader.arrays.items())
    wait = stats['wait_seconds'] / stats['seconds'] if stats['seconds'] else 0
    head = ('stage', f'share of {stats["threads"]} threads', '', '', 'count')
    return (f'<div><div><b>{escape(loader.dataset.path)}</b>: {len(loader):,} batches an epoch of '
            f'{fields}</div><div>{stats["batches"]:,} batches given in {stats["seconds"]:.3g} s, '
            f'for which the program waited {stats["wait_seconds"]:.3g} s ({wait:.1%})</div>'
            f'{_rows(rows, head)}</div>')
