"""Cases with two and three causes at once: their truth is measured by curing each alone."""
import dataclasses
import random
import statistics

from .programs import Burners, Programs
from .trainings import Python, Trainer, run

NAMED_FROM = 0.1  # of step time: docs/guide/verdicts.md
TOLERANCE = 0.03  # of step time
SECONDS = 2.5  # length of a run
RUNS = 2, 4  # with each cure, and without any, at least and at most
REPEATS = 0.03  # difference of equal runs above which there are more of them
# Gains of which the smaller is this part of the larger may be named in either order.
SAME_GAIN = 0.85
# What recprobe calls each cause.
PLACES = {'function': 'user function', 'burn': 'user function', 'batch-function': 'batch function',
          'batch-burn': 'batch function', 'host': 'host', 'copies': 'copies to the device',
          'decompression': 'decompression', 'burners': 'processors taken by others'}
# Settings cure what the input does, too: naming one beside the planted causes is not wrong.
SETTINGS = {'too few workers', 'prefetch', 'worker restarts', 'pinning of batches'}


@dataclasses.dataclass(frozen=True)
class Kind:
    program: str  # trainer or torch
    causes: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.program}: {' + '.join(self.causes)}"


KINDS = (
    Kind('trainer', ('burn', 'burners')),
    Kind('trainer', ('function', 'batch-function')),
    Kind('trainer', ('copies', 'host')),
    Kind('trainer', ('burn', 'batch-burn', 'burners')),
    Kind('trainer', ('function', 'batch-function', 'host')),
    Kind('torch', ('burn', 'burners')),
    Kind('torch', ('function', 'decompression')),
    Kind('torch', ('function', 'decompression', 'burners')),
)


@dataclasses.dataclass
class Case:
    """`parts`: ms of each step, by cause, if nothing else ran; for burners their number."""
    kind: str
    program: str
    step_ms: float
    parts: dict[str, float]
    seed: int
    steps: int = 0

    def without(self, cause: str | None) -> 'Case':
        """Returns the case with this cause cured; None: as it is."""
        parts = {name: value for name, value in self.parts.items() if name != cause}
        return dataclasses.replace(self, parts=parts)

    @property
    def burners(self) -> int:
        return round(self.parts.get('burners', 0))

    def flag(self) -> str:
        """Returns the causes within the program, for its flags."""
        return ','.join(f'{cause}:{value}' for cause, value in self.parts.items()
                        if cause != 'burners')


def draw(kind: Kind, number: int, seed: int) -> Case:
    chance = random.Random(f'several {seed} {number}')
    step = round(chance.uniform(*((15, 30) if kind.program == 'torch' else (6, 12))), 2)
    parts = {}
    for cause in kind.causes:
        if cause == 'burners':
            parts[cause] = chance.choice((2, 3, 4))
        else:
            parts[cause] = round(step * chance.uniform(0.3, 2.5), 2)
    longest = step + sum(value for cause, value in parts.items() if cause != 'burners')
    case = Case(kind.name, kind.program, step, parts, chance.getrandbits(31))
    case.steps = max(40, round(1e3 * SECONDS / longest))
    return case


class SeveralTrainer(Trainer):
    def command(self, case: Case) -> list:
        return [self.program, self.data, '--step-ms', case.step_ms, '--steps', case.steps,
                '--seed', case.seed, '--out', self.out, '--also', case.flag()]


class SeveralTorch(Python):
    def command(self, case: Case) -> list:
        return [self.python, self.script, '--step-ms', case.step_ms, '--steps', case.steps,
                '--seed', case.seed, '--out', self.out, '--also', case.flag() or 'none:0']

    def time(self, case: Case) -> dict:
        return self.result(run(self.command(case)))


def training(programs: Programs, case: Case):
    if case.program == 'trainer':
        return SeveralTrainer(programs.build, programs.work, programs.data)
    return SeveralTorch(programs.venvs / 'vision/bin/python', 'several', programs.work)


def measure(programs: Programs, case: Case) -> dict:
    """Runs with and without each cause alternately, so that drift cancels."""
    program = training(programs, case)

    def timed(cured: Case) -> float:
        with Burners(cured.burners):
            return program.time(cured)['step_seconds']

    with Burners(case.burners):
        result, said = programs.told(program, case)
    taken = {None: [result['step_seconds']], **{cause: [] for cause in case.parts}}
    for turn in range(RUNS[1]):
        for cause in case.parts:
            taken[cause].append(timed(case.without(cause)))
        taken[None].append(timed(case))
        spread = max((max(values) - min(values)) / statistics.median(values)
                     for values in taken.values())
        if turn + 1 >= RUNS[0] and spread <= REPEATS:
            break
    # The median, as some runs are held up by the rest of the machine.
    as_it_is = statistics.median(taken[None])
    saves = {cause: 1 - statistics.median(taken[cause]) / as_it_is for cause in case.parts}
    return {**dataclasses.asdict(case), 'saves': saves, 'spread': spread,
            'seconds': {cause or 'as it is': values for cause, values in taken.items()},
            'said': said}


def gain(share: float) -> float:
    return share / (1 - min(share, 0.99))


def same(one: float, other: float) -> bool:
    """Tells whether two causes save about the same: their order is free."""
    small, large = sorted((one, other))
    return large - small <= TOLERANCE or gain(small) >= SAME_GAIN * gain(large)


def judge(case: dict) -> dict:
    """All causes above a tenth of step time must be named, in the order of what they save, and
    nothing else but settings. Causes near a tenth may be named or not."""
    truth = {}
    for cause, saves in case['saves'].items():
        truth[PLACES[cause]] = max(saves, truth.get(PLACES[cause], 0))
    named = [each['cause'] for each in case['said'].get('causes', [])
             if each['cause'] not in SETTINGS]
    needed = {place for place, saves in truth.items() if saves >= NAMED_FROM + TOLERANCE}
    allowed = {place for place, saves in truth.items() if saves >= NAMED_FROM - TOLERANCE}
    all_named = needed <= set(named)
    nothing_else = set(named[1:]) <= allowed and (not needed or set(named[:1]) <= allowed)
    known = [truth[place] for place in named if place in truth]
    in_order = all(high >= low or same(high, low) for high, low in zip(known, known[1:]))
    errors = {each['cause']: each['saves'] - truth[each['cause']]
              for each in case['said'].get('causes', [])
              if each['cause'] in truth and each['saves'] is not None}
    first = bool(named) and (named[0] in truth) and all(
        truth[named[0]] >= saves or same(truth[named[0]], saves) for saves in truth.values())
    return {'all_named': all_named, 'nothing_else': nothing_else, 'in_order': in_order,
            'first': first, 'right': all_named and nothing_else and in_order, 'errors': errors}


def summary(cases: list[dict]) -> dict:
    judged = [case['judged'] for case in cases]
    errors = [abs(error) for each in judged for error in each['errors'].values()]

    def share(key):
        return sum(each[key] for each in judged) / max(1, len(judged))

    return {'cases': len(cases), **{key: share(key) for key in
                                    ('right', 'all_named', 'nothing_else', 'in_order', 'first')},
            'median_error_of_saves': statistics.median(errors) if errors else None,
            'median_spread_of_equal_runs': statistics.median(c['spread'] for c in cases)
            if cases else None}


def line(number: int, case: dict) -> str:
    truth = ', '.join(f'{cause} {saves:.2f}' for cause, saves in case['saves'].items())
    said = ', '.join(f"{each['cause']} {each['saves'] or 0:.2f}"
                     for each in case['said'].get('causes', []))
    wrong = [key for key in ('all_named', 'nothing_else', 'in_order') if not case['judged'][key]]
    return (f"{number:3} {case['kind']:44} truth: {truth}; said: {said} ± {case['spread']:.2f} "
            f"{' '.join(wrong).upper()}")


def table(results: dict) -> str:
    lines = ['| planted | cases | right | first cause right |', '|---|---|---|---|']
    for kind in dict.fromkeys(case['kind'] for case in results['cases']):
        of_kind = [case['judged'] for case in results['cases'] if case['kind'] == kind]
        lines.append(f"| {kind} | {len(of_kind)} | {sum(each['right'] for each in of_kind)} | "
                     f"{sum(each['first'] for each in of_kind)} |")
    total = results['summary']
    lines += ['', f"{total['cases']} cases of seed {results['seed']}, {results['date']}: all causes "
              f"above a tenth of step time named, in the right order, and nothing else in "
              f"{total['right']:.1%}; the first one right in {total['first']:.1%}; median error of "
              f"what a cure saves {100 * (total['median_error_of_saves'] or 0):.1f} points, where "
              f"equal runs differ by {100 * (total['median_spread_of_equal_runs'] or 0):.1f} %."]
    return '\n'.join(lines)
