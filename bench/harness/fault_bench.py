"""Command line of the benches that count what faults change."""
import argparse
import json
import pathlib
import tempfile
from typing import Callable

from harness import machine


def main(about: str, faults: int, run: Callable[[int, int, pathlib.Path], dict], why_not: str = '', **facts) -> None:
    """Prints and keeps what `run(faults, seed, work)` returns, beside `facts`. `why_not`: why it cannot run here."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument('--faults', type=int, default=faults)
    parser.add_argument('--seed', type=int, required=True)
    parser.add_argument('--out', type=pathlib.Path)
    flags = parser.parse_args()
    if why_not:
        parser.error(why_not)
    with tempfile.TemporaryDirectory(prefix='faults-') as name:
        work = pathlib.Path(name)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'seed': flags.seed, **facts,
                   **run(flags.faults, flags.seed, work)}
    print(json.dumps(results, indent=1))
    if flags.out:
        flags.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')
