"""Command line: `python -m recpack_io.ray pack SRC OUT`, with the flags of `recpack pack`."""
from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from recpack_io.errors import InvalidArgumentError, RecpackError
from recpack_io.ray.packing import pack

_UNITS = {'': 1, 'B': 1, **{name + b: 1000 ** power for b in ('', 'B') for name, power in
                            (('k', 1), ('K', 1), ('M', 2), ('G', 3))},
          'TB': 10 ** 12, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}
_MAX_SKIP = '0.1%'  # as recpack pack has it
_EPILOG = """All flags of `recpack pack` but --task, --overwrite, --append, --dry-run, --no-digest and --json; see
`recpack pack --help`. OUT and SRC are URLs, or on a file system that every node sees at the same path.
Exit codes: 0 packed, 2 failure."""


def _size(text: str) -> int:
    found = re.fullmatch(r'([\d.]+)(\w*)', text)
    if not found or found[2] not in _UNITS:
        raise argparse.ArgumentTypeError(f"not a size: '{text}': write it like 100MB, 64MiB or 1GB")
    return int(float(found[1]) * _UNITS[found[2]])


def _share(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith('%') else float(text)


def _shuffle(text: str) -> int | None:
    return None if text == 'off' else int(text)


def _path(text: str) -> str:
    return os.path.abspath(text)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the flags; what is not given is not in its result."""
    whole = argparse.ArgumentParser(prog='python -m recpack_io.ray')
    parser = whole.add_subparsers(required=True).add_parser(
        'pack', help='pack a data set into shards, in tasks of a Ray cluster', epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter, argument_default=argparse.SUPPRESS, allow_abbrev=False)
    parser.add_argument('source', metavar='SRC')
    parser.add_argument('out', metavar='OUT')
    parser.add_argument('--address', help='of the cluster (default: RAY_ADDRESS, otherwise one of this machine)')
    parser.add_argument('--tasks', type=int, help='number of tasks (default: one per CPU)')
    parser.add_argument('--cpus-per-task', type=float, help='CPUs and threads of a task (default 1)')
    parser.add_argument('--max-retries', type=int, help='how often a lost task runs again (default 3)')
    kinds: tuple[tuple[Any, str], ...] = (
        (str, 'splits split layout jpeg compression'),
        (int, 'max-tokens vocabulary seed label-offset resize quality shards level threads limit'),
        (_path, 'vocabulary-file devkit labels work-folder'))
    for kind, names in kinds:
        for name in names.split():
            parser.add_argument(f'--{name}', type=kind)
    parser.add_argument('--from', dest='kind')
    parser.add_argument('--field', dest='fields')
    parser.add_argument('--column', dest='columns')
    parser.add_argument('--filter', dest='filters', nargs='+', action='extend')
    parser.add_argument('--shard-size', dest='shard_bytes', type=_size)
    parser.add_argument('--shuffle', type=_shuffle)
    parser.add_argument('--max-skip', type=_share)
    parser.add_argument('--on-error', choices=['fail', 'skip'])
    parser.add_argument('--check-images', action='store_true')
    parser.add_argument('--dali-index', action='store_true')
    parser.add_argument('--no-sync', dest='sync', action='store_false')
    parser.add_argument('--quiet', action='store_true')
    return whole


def _skipping(options: dict[str, Any]) -> float:
    """Takes --on-error and --max-skip; returns the share that may be skipped."""
    skips = options.pop('on_error', 'fail') == 'skip'
    if not skips and 'max_skip' in options:
        raise InvalidArgumentError('--max-skip has no effect without --on-error skip: add it, or leave both out to stop '
                                   'at the first bad item')
    return options.pop('max_skip', _share(_MAX_SKIP)) if skips else 0.0


def _tell(done: int, tasks: int) -> None:
    print(f'\rpacking: {done} of {tasks} tasks ended', end='\n' if done == tasks else '', file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    import ray
    options = vars(make_parser().parse_args(arguments))
    quiet, begin = options.pop('quiet', False), time.monotonic()
    try:
        options['max_skip'] = _skipping(options)
        ray.init(address=options.pop('address', None), log_to_driver=False, logging_level='ERROR')
        result = pack(progress=_tell if sys.stderr.isatty() and not quiet else None, **options)
    except (RecpackError, ConnectionError) as error:
        print(f'recpack: {error}', file=sys.stderr)
        return 2
    for path, reason in result.skipped:
        print(f'skipped {path}: {reason}', file=sys.stderr)
    if not quiet:
        for notice in result.notices:
            print(f'note: {notice}', file=sys.stderr)
        print(f'packed {result.records:,} records, {result.nbytes:,} bytes, in {result.shards:,} shards into '
              f'{options["out"]} in {time.monotonic() - begin:.1f} s')
    return 0


if __name__ == '__main__':
    sys.exit(main())
