"""Tables of docs/guide/performance.md, from files of bench/results/ and nothing else."""
from harness.entrants import OURS, PEER, REFERENCE

HEADER = ['job', 'recpack', 'best peer (ours against it)', 'reference (ours against it)', 'terms']


def number(value: float, unit: str) -> str:
    if unit != 'records/s':
        return f'{value:,.1f} {unit}'
    return f'{value / 1e6:.2f} M/s' if value >= 1e6 else f'{value:,.0f}/s'


def _figures(row: dict, role: str) -> list[dict]:
    return [e for e in row['entrants'] if e['role'] == role and 'unavailable' not in e]


def _best(row: dict, entries: list[dict]) -> dict:
    pick = max if row['unit'] == 'records/s' else min
    return pick(entries, key=lambda e: e['figure']['median'])


def _against(row: dict, entry: dict) -> str:
    ratio = row['ratios'].get(entry['label'])
    return f" ({ratio['median']:.2f}×)" if ratio else ''


def _short(label: str) -> str:
    return label.removeprefix('recpack, ').removeprefix('recpack_io, ')


def _ours(row: dict) -> str:
    mine = [e for e in row['entrants'] if e['role'] == OURS]
    if not mine or 'unavailable' in mine[0]:
        return f"unavailable: {mine[0]['unavailable'] if mine else 'not part of this row'}"
    figures = [(e['label'], number(e['figure']['median'], row['unit']))
               for e in mine if 'unavailable' not in e]
    if len(figures) == 1:
        return figures[0][1]
    return '; '.join(f"{_short(label)} {figure}" for label, figure in figures)


def cells(row: dict) -> list[str]:
    """Title, ours, best peer and reference with our ratio to them, and the terms."""
    line = [row['title'], _ours(row)]
    for role in PEER, REFERENCE:
        others = _figures(row, role)
        if not others:
            line.append('–')
            continue
        best = _best(row, others)
        line.append(f"{best['label']} {number(best['figure']['median'], row['unit'])}"
                    + _against(row, best))
    said = [row.get('terms'), f"no peer: {row['alone']}" if row.get('alone') else '']
    return [*line, '; '.join(text for text in said if text) or '–']


def loses(row: dict) -> bool:
    """Whether some peer is faster than we are."""
    return any(row['ratios'][e['label']]['median'] < 1 for e in _figures(row, PEER)
               if e['label'] in row['ratios'])


def markdown(header: list[str], lines: list[list[str]]) -> str:
    rows = [header, ['---'] * len(header), *lines]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in rows)


def _memory(rows: list[dict]) -> str:
    """A line for each job and count of records."""
    def cell(entry: dict) -> str:
        if 'unavailable' in entry:
            return f"unavailable: {entry['unavailable']}"
        return number(entry['figure']['median'], 'MB')
    lines = [[entry['label'], row['title'], cell(entry)]
             for row in rows for entry in row['entrants']]
    said = dict.fromkeys(f"{row['terms']}; no peer: {row['alone']}" for row in rows)
    return markdown(['what', 'figure', 'MB'], lines) + '\n\nMemory: ' + '; '.join(said) + '.'


# Epoch, and which part of it was copying between devices, as the field reports them of DeepCoNN.
_FIELD_PLACEMENT = {'one device': ('20.5 s', '0 %'), 'towers on two': ('22.5 s', '20.1 %'),
                    'alternating': ('23.0 s', '24.5 %')}


def _placement(row: dict) -> str:
    """A line for each placement of a model's operations on devices: of epochs, or of steps."""
    epochs = row['name'].startswith('placement-epochs')
    lines = []
    for entry in row['entrants']:
        field = _FIELD_PLACEMENT.get(entry['label'], ('–', '–'))
        if 'unavailable' in entry:
            ours = [f"unavailable: {entry['unavailable']}", '–', '–', *['–'] * epochs]
        else:
            ours = [number(entry['figure']['median'], row['unit']), f"{entry['copies']:,.0f}",
                    f"{100 * entry['copy_share']:.1f} %"]
            if epochs:
                ours.insert(0, f"{entry['seconds']['median']:.1f} s")
        lines.append([entry['label'], *ours, *field])
    what = ['epoch', 'samples', 'copies'] if epochs else ['samples', 'copies a step']
    return markdown([row['title'], *what, 'their share', 'the field: epoch', 'share'], lines)


def _against_the_first(row: dict) -> str:
    """A line for each entrant, with its speed against that of the first."""
    lines = []
    for entry in row['entrants']:
        if 'unavailable' in entry:
            lines.append([entry['label'], f"unavailable: {entry['unavailable']}", '–'])
            continue
        ratio = row['ratios'].get(entry['label'], {'median': 1})['median']
        lines.append([entry['label'], number(entry['figure']['median'], row['unit']),
                      f'{1 / ratio:.2f}×'])
    return markdown([row['title'], 'samples', 'to the first'], lines)


# Rows with a table of their own, behind the others.
_OWN = {'placement': _placement, 'placement-epochs': _placement, 'threads': _against_the_first}


def _own(row: dict):
    """The table of a row that has one, also of its figures of another machine (NAME@KIND); else None."""
    return _OWN.get(row['name'].partition('@')[0])


def _place(machine: dict) -> str:
    """The machine, with what chooses the kernels, ours and theirs."""
    simd = 'AVX-512' if machine['avx512'] else 'no AVX-512'
    return f"{machine['cpu']} ({simd}), {machine['cores']} cores, {machine['system']}"


def _marks(results: dict) -> dict[tuple[str, str], str]:
    """A mark for each day and machine that the rows are from; none is needed where there is one."""
    seen = list(dict.fromkeys(_when(row, results) for row in results['rows']))
    return {when: '' if len(seen) == 1 else f'[{chr(ord("a") + i)}]' for i, when in enumerate(seen)}


def _when(row: dict, results: dict) -> tuple[str, str]:
    return row.get('date', results['date'])[:10], _place(row.get('machine', results['machine']))


def _rounds(results: dict) -> str:
    """How many there were of a row: '5', or '3 to 5'."""
    counts = {e['reps'] for row in results['rows'] for e in row['entrants'] if 'reps' in e} or {results['reps']}
    return str(max(counts)) if len(counts) == 1 else f'{min(counts)} to {max(counts)}'


def table(results: dict) -> str:
    """Markdown: rows where a peer is faster than we are, the others, and memory."""
    marks = _marks(results)
    marked = [{**row, 'title': f"{row['title']} {marks[_when(row, results)]}".rstrip()} for row in results['rows']]
    shown = [row for row in marked if row['unit'] != 'MB' and not _own(row)]
    text = markdown(HEADER, [cells(row) for row in shown if not loses(row)])
    lost = [row for row in shown if loses(row)]
    if lost:
        text = 'Where we lose:\n\n' + markdown(HEADER, [cells(row) for row in lost]) + '\n\nThe others:\n\n' + text
    memory = [row for row in marked if row['unit'] == 'MB']
    if memory:
        text += '\n\n' + _memory(memory)
    for row in marked:
        if own := _own(row):
            text += '\n\n' + own(row)
    places = '; '.join(f'{mark} {day}, {place}'.lstrip() for (day, place), mark in marks.items())
    return f'{text}\n\n{places}; medians of {_rounds(results)} rounds in which all took turns.'
