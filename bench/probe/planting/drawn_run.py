"""Command line of a run on cases that are drawn from a seed, and judged."""
import argparse
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Used to develop rules and estimates: a judged run must have another seed.
TUNING_SEEDS = range(0, 1000)


def add_arguments(parser: argparse.ArgumentParser, cases: int) -> None:
    """`cases`: how many by default."""
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--venvs', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    parser.add_argument('--cases', type=int, default=cases)
    parser.add_argument('--seed', type=int)
    parser.add_argument('--tune', action='store_true',
                        help='tuning run, with a seed below 1000: not judged')
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path, help='print these results and run nothing')


def check(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Ends the program where the seed does not suit the run."""
    if given.seed is None:
        parser.error('--seed is missing: expected a seed of at least 1000 that was never used')
    if (given.seed in TUNING_SEEDS) != given.tune:
        parser.error('seeds below 1000 are for tuning only (--tune)')
    if given.tune and given.out:
        parser.error('--out is for judged runs, not for --tune')
