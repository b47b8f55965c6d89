"""Judges verdicts line by line."""
import math
import statistics

from .cases import BY_NAME, HANGS
from .truth import Truth, Truths

LIMITS = (0.05, 0.2)
BANDS = ('not input-bound', 'moderately input-bound', 'highly input-bound')
TOLERANCE = 0.03  # of step time
NAMED_RANK = 0.1
LINES = ('band', 'place', 'rank')


def band(share: float) -> str:
    return BANDS[sum(share >= limit for limit in LIMITS)]


def input_truth(case: dict, truths: Truths) -> Truth:
    """Returns the share that a perfect input saves. It is 0 for causes outside the input, with the
    uncertainty of repeated runs."""
    of, saved = BY_NAME[case['kind']], truths.of_perfect_input(case)
    measured = of.of != 'other' or of.cause == 'hidden-wait'
    return saved if measured else Truth(0.0, saved.half)


def right_band(truth: float, said: dict) -> bool:
    """'undecided' is right only near a limit that lies within the interval."""
    if said['verdict'] != 'undecided':
        return said['verdict'] == band(truth)
    share = said['input_share']
    return any(share['low'] <= limit <= share['high'] and abs(truth - limit) <= TOLERANCE
               for limit in LIMITS)


def right_places(case: dict, cost: float) -> set[str]:
    """Returns the right bottlenecks: two if the cost is near the share from which it is named."""
    of = BY_NAME[case['kind']]
    if of.of == 'nothing':
        return {of.otherwise}
    if of.cause in HANGS:
        return {of.place}
    if of.cause == 'hidden-wait':  # with two ranks, the slow one is unique
        return {of.place} if case['ranks'] == 2 else {of.place, 'model'}
    if of.of == 'input':
        undecided = case['said']['verdict'] == 'undecided'
        near = undecided and abs(cost - of.named_from) <= TOLERANCE
    else:
        near = abs(cost - of.named_from) <= TOLERANCE
    if near:
        return {of.place, of.otherwise}
    if cost < of.named_from:
        return {of.otherwise}
    # Badly placed operations cause copies, and make the devices wait for each other.
    return {of.place, 'devices in turns'} if of.cause == 'placement' else {of.place}


def right_rank(case: dict, cost: float) -> bool:
    """The planted rank is right, or none if there is none. A rank is named from a tenth of step
    time on (docs/reference/verdicts.md)."""
    said, of = case['said'], BY_NAME[case['kind']]
    rank = said.get('rank')
    if said['bottleneck'] == of.otherwise or not of.several_ranks:
        return rank is None
    if of.cause == 'hidden-wait':
        return rank is not None and rank != case['odd_rank']
    small = of.of == 'input' and cost < NAMED_RANK + TOLERANCE
    return rank == case['odd_rank'] or small and rank is None


def covers(share: dict, truth: Truth) -> bool:
    """Tells whether the difference of both estimates is within their combined uncertainty."""
    difference = truth.value - share['value']
    own = share['high'] - share['value'] if difference > 0 else share['value'] - share['low']
    return abs(difference) <= math.hypot(own, truth.half)


def judge(case: dict, truths: Truths) -> dict:
    cost = truths.of(case)
    truth, said = input_truth(case, truths), case['said']
    share = said.get('input_share')
    told = {'truth': truth.value, 'truth_half': truth.half, 'cost': cost.value}
    if share is None:
        return {**told, 'band': False, 'place': False, 'rank': False, 'error': None,
                'speed_error': None, 'covered': False, 'contained': False, 'half': None}
    return {**told, 'band': right_band(truth.value, said),
            'place': said['bottleneck'] in right_places(case, cost.value),
            'rank': right_rank(case, cost.value),
            'error': share['value'] - truth.value,
            'speed_error': (1 - truth.value) / (1 - min(share['value'], 0.99)) - 1,
            'covered': covers(share, truth),
            'contained': share['low'] <= truth.value <= share['high'],
            'half': (share['high'] - share['low']) / 2}


def is_right(judged: dict) -> bool:
    return all(judged[line] for line in LINES)


def _share(values: list) -> float:
    return sum(map(bool, values)) / max(1, len(values))


def summary(cases: list[dict]) -> dict:
    judged = [case['judged'] for case in cases]
    false_alarms = [c for c in cases if BY_NAME[c['kind']].of != 'input'
                    and c['said']['verdict'] in BANDS[1:]]

    def within(key):
        return _share([j[key] is not None and abs(j[key]) <= TOLERANCE for j in judged])

    def median(values):
        return statistics.median(values) if values else None

    return {
        'cases': len(cases),
        'right': _share([is_right(j) for j in judged]),
        **{f'right_{line}': _share([j[line] for j in judged]) for line in LINES},
        'undecided': _share([c['said']['verdict'] == 'undecided' for c in cases]),
        'called_input_bound_without_cause': len(false_alarms),
        'share_within_3_points': within('error'),
        'speed_within_3_percent': within('speed_error'),
        'largest_error': max((abs(j['error']) for j in judged if j['error'] is not None),
                             default=None),
        'coverage': _share([j['covered'] for j in judged]),
        'interval_alone_holds_measured_truth': _share([j['contained'] for j in judged]),
        'median_half_interval': median([j['half'] for j in judged if j['half'] is not None]),
        'median_half_truth': median([j['truth_half'] for j in judged]),
    }


def too_noisy(total: dict) -> str:
    """Returns why the results are too noisy to be meaningful; empty if they are not."""
    half = total['median_half_truth']
    if half is None or half <= TOLERANCE:
        return ''
    return (f'the truth is known only to {100 * half:.1f} points in the median: other programs '
            'used the machine')
