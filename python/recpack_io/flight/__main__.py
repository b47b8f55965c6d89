"""Command line: `python -m recpack_io.flight serve DATA --recipe NAME` serves batches to recpack_io.flight.Loader."""
from __future__ import annotations

import argparse
import pathlib
import signal
import sys
import threading
from collections.abc import Sequence

import recpack_io
from recpack_io.errors import RecpackError
from recpack_io.flight import places
from recpack_io.flight.server import Server

_EPILOG = f"""It listens on this machine alone, unless --url says otherwise; an address that others can reach needs
grpc+tls://, a certificate and a token. Clients give the token as ${places.TOKEN_VARIABLE}, or to the Loader.
Ctrl-C or SIGTERM ends it. Exit codes: 0 ended so, 2 failure."""


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command."""
    whole = argparse.ArgumentParser(prog='python -m recpack_io.flight')
    parser = whole.add_subparsers(required=True).add_parser(
        'serve', help='serve batches of a data set', epilog=_EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('data', metavar='DATA', help='data set: a folder, or whatever recpack_io.open() takes')
    parser.add_argument('--recipe', required=True, choices=recpack_io.recipe_names())
    parser.add_argument('--split', default='')
    parser.add_argument('--field', dest='fields', default='', help='aliases of features, as for recpack pack')
    parser.add_argument('--label-offset', type=int, default=0)
    parser.add_argument('--url', default=f'grpc://127.0.0.1:{places.PORT}', help='where to listen (default %(default)s)')
    parser.add_argument('--token-file', type=pathlib.Path, help=f'file with the token (default: ${places.TOKEN_VARIABLE})')
    parser.add_argument('--certificate', default='', help='PEM file, for grpc+tls://')
    parser.add_argument('--key', default='', help='PEM file of its key')
    parser.add_argument('--insecure', action='store_true', help='listen for other machines without TLS or token')
    parser.add_argument('--idle', type=float, default=900.0, metavar='SECONDS',
                        help='forget clients that ask for nothing so long (default 900)')
    parser.add_argument('--threads', type=int, default=0, help='of each client\'s loader (default: all processors)')
    parser.add_argument('--cache', choices=['none', 'records', 'pictures'], default='none')
    parser.add_argument('--cache-bytes', type=int, default=1 << 30)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    given = make_parser().parse_args(arguments)
    try:
        token = given.token_file.read_text(encoding='utf-8').strip() if given.token_file else ''
        dataset = recpack_io.open(given.data, split=given.split, fields=given.fields, label_offset=given.label_offset)
        server = Server(dataset, given.recipe, url=given.url, token=token, certificate=given.certificate, key=given.key,
                        insecure=given.insecure, idle=given.idle, threads=given.threads, cache=given.cache,
                        cache_bytes=given.cache_bytes)
    except (RecpackError, OSError) as error:
        print(f'recpack: {error}', file=sys.stderr)
        return 2
    over = threading.Event()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: over.set())
    print(f'serving {len(dataset):,} samples of {given.data} at {server.url}', flush=True)
    while not over.wait(1.0):  # a wait without end would hear no signal
        pass
    server.shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
