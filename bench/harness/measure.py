"""Measures a row: all entrants take turns, and ratios are taken within a round."""
import dataclasses
import pathlib
import statistics
from typing import Callable

from harness.entrants import OURS, Entrant, Sample, Setting, Unavailable
from harness.machine import today, warm_cache


@dataclasses.dataclass
class Row:
    """Like against like: everything in a row does the same work on the same bytes."""
    name: str
    title: str
    records: int  # of one repetition, where an entrant does not say
    entrants: list[Entrant]
    # What is to be reached against a label or role, by the first that is ours; or, where several
    # are ours, by the one whose label stands before: 'LABEL against OTHER'.
    targets: dict[str, float] = dataclasses.field(default_factory=dict)
    cpus: int = 2  # that every entrant is bound to
    unit: str = 'records/s'  # or 'ms' (for one repetition), 'MB' (peak memory)
    cold: Callable[[Setting], str] | None = None  # run before each repetition; says how
    # What an entrant's turn begins with reading, by its label: so much lies between two of its turns
    # that a page cache may have lost what it needs.
    warm: dict[str, str] = dataclasses.field(default_factory=dict)
    cache: str = ''  # its state, where the entrants see to it themselves
    # On what terms: size of the data, cache, what is synced and checked, threads, type and layout.
    terms: str = ''
    alone: str = ''  # why there is no peer


def _turn(entrants: list[Entrant], round_number: int) -> list[Entrant]:
    """Another one begins each round, so that none is always first."""
    shift = round_number % len(entrants)
    return entrants[shift:] + entrants[:shift]


def _speed(row: Row, sample: Sample) -> float:
    return (sample.records or row.records) / sample.seconds


def _figure(row: Row, sample: Sample) -> float | None:
    if row.unit == 'MB':
        return sample.peak_mb
    return sample.seconds * 1e3 if row.unit == 'ms' else _speed(row, sample)


def _spread(values: list[float]) -> dict:
    return {'median': statistics.median(values), 'min': min(values), 'max': max(values)}


def _entry(row: Row, entrant: Entrant, samples: list[Sample], reason: str | None) -> dict:
    entry = {'label': entrant.label, 'role': entrant.role, 'version': entrant.version,
             'config': entrant.config}
    if reason is not None:
        return entry | {'unavailable': reason}
    peaks = [s.peak_mb for s in samples if s.peak_mb is not None]
    return entry | {
        'reps': len(samples),
        'seconds': _spread([s.seconds for s in samples]),
        'figure': _spread([_figure(row, s) for s in samples]),
        'records': samples[-1].records or row.records,
        'bytes': samples[-1].bytes,
        'peak_mb': max(peaks) if peaks else None,
        **{name: statistics.median(s.more[name] for s in samples) for name in samples[-1].more},
    }


def _ratios(row: Row, label: str | None, samples: dict[str, list[Sample]]) -> dict:
    """How many times as fast `label` is as each other entrant, pair by pair of one round."""
    mine = samples.get(label, [])
    return {other: _spread([_speed(row, a) / _speed(row, b) for a, b in zip(mine, theirs)])
            for other, theirs in samples.items() if mine and theirs and other != label}


def _reach(ratios: dict, entries: list[dict], target: str) -> float | str:
    """The ratio that a target is about: against a label, or the best of a role."""
    labels = [e['label'] for e in entries
              if target in (e['label'], e['role']) and e['label'] in ratios]
    if not labels:
        return 'unavailable: ' + next((e['unavailable'] for e in entries if target in
                                       (e['label'], e['role']) and 'unavailable' in e),
                                      'our side was not measured')
    return min(ratios[label]['median'] for label in labels)


def judge(row: Row, entries: list[dict], samples: dict[str, list[Sample]]) -> list[dict]:
    """Each target, what was reached, and whether that meets it."""
    verdicts = []
    for target, least in row.targets.items():
        mine, _, other = target.rpartition(' against ')
        reached = _reach(_ratios(row, mine or _first_of_ours(row), samples), entries, other)
        verdicts.append({'against': target, 'target': least, 'reached': reached,
                         'met': not isinstance(reached, str) and reached >= least})
    return verdicts


def _first_of_ours(row: Row) -> str | None:
    return next((e.label for e in row.entrants if e.role == OURS), None)


def measure(row: Row, setting: Setting, reps: int, say: Callable[[str], None]) -> dict:
    """Runs `reps` rounds. The first entrant with role 'ours' is the one that is compared."""
    reasons: dict[str, str] = {}
    samples: dict[str, list[Sample]] = {e.label: [] for e in row.entrants}
    how_cold = None
    try:
        for entrant in row.entrants:
            try:
                entrant.start(setting, row.cpus)
            except Unavailable as error:
                reasons[entrant.label] = str(error)
        # A round before the first, uncounted, so that what is called warm is warm.
        unwarmed = reps > 1 and not row.cold and row.unit != 'MB'
        for number in range(-1 if unwarmed else 0, reps):
            for entrant in _turn(row.entrants, max(0, number)):
                if entrant.label in reasons:
                    continue
                if row.cold:
                    how_cold = row.cold(setting)
                if entrant.label in row.warm:
                    warm_cache(pathlib.Path(row.warm[entrant.label].format(work=setting.work)))
                try:
                    sample = entrant.run()
                    if number >= 0:
                        samples[entrant.label].append(sample)
                except Unavailable as error:
                    reasons[entrant.label] = str(error)
    finally:
        for entrant in row.entrants:
            entrant.stop()
    return _result(row, samples, reasons, how_cold, say)


def _result(row: Row, samples, reasons: dict, how_cold: str | None, say) -> dict:
    entries = [_entry(row, e, samples[e.label], reasons.get(e.label)) for e in row.entrants]
    measured = {label: those for label, those in samples.items() if label not in reasons}
    ratios = _ratios(row, _first_of_ours(row), measured)
    for entry in entries:
        figure = entry.get('unavailable') or f"{entry['figure']['median']:,.1f} {row.unit}"
        say(f"  {entry['label']:<28} {figure}")
    return {'name': row.name, 'title': row.title, 'date': today(), 'unit': row.unit, 'cpus': row.cpus,
            'cache': row.cache or (f'cold, by {how_cold}' if how_cold else 'warm'),
            'terms': row.terms, 'alone': row.alone, 'entrants': entries, 'ratios': ratios,
            'targets': judge(row, entries, measured)}
