"""Kinds of cases, and how cases are drawn."""
import dataclasses
import random

SECONDS = 2.0  # length of a run with the cause
IN_TIME = 0.6  # share of a step in which an input without a cause makes a batch
# Shortest step without a cause. A simulated device sleeps and wakes up about 25 us late beside
# threads that make batches, which a real one does not; this must be a small part of a step.
SHORTEST_MS = 4
# Steps with a cache that is too small: two epochs, as only the second one could come from it.
CACHED_STEPS = 376


@dataclasses.dataclass(frozen=True)
class Kind:
    """A cause in a program.

    of: 'input'; 'other' if a perfect input does not help; 'nothing' for no cause.
    place: the right bottleneck. named_from: the share of step time from which on
    docs/reference/verdicts.md names it; below that, `otherwise` is right.
    """
    # trainer (planted_trainer), store (the same on an object store), rectrain, placed (rectrain
    # --place), torch, ddp, tf
    program: str
    cause: str
    of: str
    place: str = 'model'
    named_from: float = 0.05
    several_ranks: bool = False
    simulated: bool = False  # always simulates devices, as the program itself computes
    otherwise: str = 'model'  # 'unknown' if ranks may wait for each other unseen
    ready_ms: str = ''  # the input whose time per batch sets the step: '', 'decode', 'cold-cache'

    @property
    def name(self) -> str:
        return f'{self.program}: {self.cause}'


KINDS = (
    Kind('trainer', 'none', 'nothing'),
    Kind('trainer', 'background', 'nothing'),
    Kind('trainer', 'storage', 'input', 'storage'),
    Kind('trainer', 'cold-cache', 'input', 'page-cache misses', simulated=True,
         ready_ms='cold-cache'),
    Kind('trainer', 'decode', 'input', 'decode', simulated=True, ready_ms='decode'),
    Kind('trainer', 'function', 'input', 'user function'),
    Kind('trainer', 'batch-function', 'input', 'batch function'),
    Kind('trainer', 'slow-rank-input', 'input', 'user function', several_ranks=True),
    Kind('trainer', 'interference', 'input', 'processors taken by others', simulated=True),
    Kind('trainer', 'slow-rank-compute', 'other', 'slow rank', 0.1, several_ranks=True),
    # The exchange hides a wait for input, as the other ranks' devices take longer.
    Kind('trainer', 'hidden-wait', 'other', 'slow rank', 0, several_ranks=True),
    Kind('trainer', 'host', 'other', 'host', 0.25, simulated=True),
    Kind('trainer', 'copies', 'other', 'copies to the device', 0.1),
    Kind('trainer', 'launch', 'other', 'launch overhead', 0.25, simulated=True),
    # All devices wait for each other, and the driver reports that they are always busy.
    Kind('trainer', 'hang', 'other', 'hang', 0, simulated=True),
    Kind('trainer', 'stuck-input', 'other', 'hang', 0, simulated=True),
    Kind('store', 'none', 'nothing', simulated=True),
    Kind('store', 'latency', 'input', 'storage: latency', simulated=True),
    Kind('store', 'bandwidth', 'input', 'storage: bandwidth', simulated=True),
    Kind('store', 'throttled', 'input', 'storage: throttled', simulated=True),
    Kind('store', 'cache-misses', 'input', 'storage: cache misses', simulated=True),
    Kind('rectrain', 'none', 'nothing', simulated=True, ready_ms='rectrain'),
    Kind('placed', 'placement', 'other', 'copies on devices', 0.1),
    Kind('torch', 'none', 'nothing', simulated=True),
    Kind('torch', 'background', 'nothing', simulated=True),
    Kind('torch', 'function', 'input', 'user function', simulated=True),
    Kind('torch', 'decompression', 'input', 'decompression', simulated=True),
    Kind('torch', 'training-thread', 'input', 'training thread', simulated=True),
    # A thread computes in Python, so waits for batches also wait for the interpreter lock.
    Kind('torch', 'gil', 'input', 'interpreter lock', simulated=True),
    # Several processes, whose exchange is not seen.
    Kind('ddp', 'none', 'nothing', otherwise='unknown', simulated=True),
    Kind('ddp', 'slow-rank-input', 'input', 'user function', several_ranks=True,
         otherwise='unknown', simulated=True),
    Kind('tf', 'none', 'nothing', simulated=True),
    Kind('tf', 'function', 'input', 'user function', simulated=True),
)
HANGS = ('hang', 'stuck-input')
BY_NAME = {kind.name: kind for kind in KINDS}


@dataclasses.dataclass
class Case:
    kind: str
    strength: float
    device: str  # sim or cpu
    ranks: int
    step_ms: float
    seed: int
    burners: int = 0  # number of programs that take processors
    removed: bool = False  # without the cause; for an input, with a perfect one
    perfect: bool = False  # with a perfect input where that is not the same: the cause is left
    fixed_steps: int = 0

    @property
    def of(self) -> Kind:
        return BY_NAME[self.kind]

    def steps(self) -> int:
        if self.fixed_steps:
            return self.fixed_steps
        seconds = SECONDS * (1 - self.strength)
        if self.of.cause == 'interference':  # the scheduler may be unfair for seconds
            seconds = 4 * SECONDS
        if self.of.cause == 'cache-misses':
            return CACHED_STEPS
        # Answers come in bursts, as requests are sent in bursts: more steps than elsewhere. No more
        # than an epoch.
        fewest = 120 if self.of.program == 'store' else 60
        return max(fewest, round(seconds * 1e3 / self.step_ms))

    def quick(self, steps: int) -> 'Case':
        return dataclasses.replace(self, step_ms=0.1, fixed_steps=steps)

    def without(self) -> 'Case':
        return dataclasses.replace(self, removed=True, burners=0)

    def with_perfect_input(self) -> 'Case | None':
        """None where without() has one. Programs that take processors delay more than the input."""
        return dataclasses.replace(self, perfect=True) if self.of.cause == 'interference' else None


def draw(kind: Kind, number: int, seed: int, ready_ms: dict[str, float]) -> Case:
    """Draws a case of a kind. ready_ms: time per batch of an unimpeded input, by cause."""
    chance = random.Random(f'{seed} {number}')
    strength = 0 if kind.of == 'nothing' else round(chance.uniform(0, 0.8), 3)
    ranks = chance.choice((2, 3)) if kind.several_ranks else chance.choice((1, 1, 2))
    if kind.program in ('placed', 'store', 'torch', 'ddp', 'tf'):
        ranks = 2 if kind.program == 'ddp' else 1
    # A framework's overhead per batch must be a small part of the step, as in real trainings.
    shortest, longest = (15, 40) if kind.program in ('torch', 'ddp', 'tf') else (6, 16)
    if kind.program == 'store':  # its server is a program in Python
        shortest, longest = (20, 30) if kind.cause == 'cache-misses' else (40, 80)
    simulated = kind.simulated or ranks > 1 or chance.random() < 0.6
    case = Case(kind.name, strength, 'sim' if simulated else 'cpu', ranks,
                round(chance.uniform(shortest, longest), 2), chance.getrandbits(31))
    if kind.ready_ms:  # the input's speed is given: the step time follows from it
        share = IN_TIME if kind.of == 'nothing' else 1 / (1 - strength)
        shortest = SHORTEST_MS if kind.of == 'nothing' else 0.5
        case.step_ms = round(max(shortest, ready_ms[kind.ready_ms] * ranks / share), 3)
    if kind.program == 'placed':
        case.device, case.fixed_steps = 'cpu', 300
    if kind.cause == 'interference':
        case.burners = chance.choice((2, 3, 4))
    return case
