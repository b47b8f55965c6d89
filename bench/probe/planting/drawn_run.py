"""Command line of a run on cases that are drawn from a seed, and judged; and the cases done so far."""
import argparse
import hashlib
import json
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


class DoneCases:
    """Cases of a judged run by number, kept in OUT.part so that a run that is stopped goes on where it was.

    Only cases of the same seed, number of cases and recprobe are taken over.
    """

    def __init__(self, given: argparse.Namespace):
        recprobe = given.build / 'tools' / 'recprobe' / 'recprobe'
        self._run = {'seed': given.seed, 'cases': given.cases, 'only': given.only,
                     'recprobe': hashlib.sha256(recprobe.read_bytes()).hexdigest()}
        self._path = given.out and given.out.with_name(given.out.name + '.part')
        self.taken_over: dict[int, dict] = {}
        if self._path and self._path.exists():
            run, *cases = map(json.loads, self._path.read_text(encoding='utf-8').splitlines())
            if run == self._run:
                self.taken_over = {case['number']: case['case'] for case in cases}
                print(f'{len(self.taken_over)} cases are taken over from {self._path}', flush=True)
        if self._path and not self.taken_over:
            self._path.write_text(json.dumps(self._run) + '\n', encoding='utf-8')

    def keep(self, number: int, case: dict) -> None:
        if self._path:
            with self._path.open('a', encoding='utf-8') as file:
                file.write(json.dumps({'number': number, 'case': case}) + '\n')

    def end(self) -> None:
        """Call it when the results are written."""
        if self._path:
            self._path.unlink()
