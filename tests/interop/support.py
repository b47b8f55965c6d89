"""Shared parts of the interoperation tests: recpack's commands, the golden rows, and the closing line.

RECPACK in the environment names the program that is tested (default: the one in build/release/).
"""
import base64
import faulthandler
import json
import os
import pathlib
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECPACK = os.environ.get('RECPACK', str(ROOT / 'build/release/tools/recpack/recpack'))
GOLDEN = ROOT / 'tests' / 'golden'
CIFAR = GOLDEN / 'cifar10' / 'cifar-10-batches-py'
# As `recpack pack --from cifar10` cuts them when nothing else is said.
CIFAR_SPLITS = {'train': [f'data_batch_{i}' for i in range(1, 5)],
                'validation': ['data_batch_5'], 'eval': ['test_batch']}
COMPRESSIONS = ('none', 'gzip', 'zlib')
_MOST_SECONDS = 900  # of a file of tests: one that hangs says where it does


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def serve(test: unittest.TestCase, command: list, port: int, **options) -> None:
    """Starts a server of that local port and returns when it listens. It ends with the test; `options` are Popen's."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    test.addCleanup(server.wait)
    test.addCleanup(server.kill)
    end = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(('127.0.0.1', port), 1).close()
        except OSError:
            test.assertLess(time.monotonic(), end, f'{command[0]} does not listen')
            time.sleep(0.1)


def run_ranks(test: unittest.TestCase, count: int, program, *words) -> list[str]:
    """Runs a program in Python as so many ranks of one training. Returns the last line of each, empty if it prints none."""
    port = free_port()
    ranks = [subprocess.Popen([sys.executable, program, *map(str, words)], text=True, stdout=subprocess.PIPE,
                              env=os.environ | {'RANK': str(rank), 'LOCAL_RANK': str(rank), 'NODE_RANK': '0', 'WORLD_SIZE': str(count),
                                                'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(port)})
             for rank in range(count)]
    for rank in ranks:
        test.addCleanup(rank.kill)
    outputs = [rank.communicate(timeout=300)[0] for rank in ranks]
    test.assertEqual([rank.returncode for rank in ranks], [0] * count)
    return [(output.strip().splitlines() or [''])[-1] for output in outputs]


def recpack(*arguments, expect: int = 0) -> str:
    """Runs recpack; returns its stdout. Another exit status than `expect` is a failure."""
    command = [RECPACK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != expect:
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}, not {expect}\n"
                             f'{done.stdout}{done.stderr}')
    return done.stdout


def recpack_json(*arguments, expect: int = 0) -> dict:
    return json.loads(recpack(*arguments, '--json', expect=expect))


def pack(source, out, *flags) -> dict:
    return recpack_json('pack', source, out, *flags)


def shards(folder: pathlib.Path, split: str) -> list[str]:
    found = sorted(str(p) for p in folder.glob(f'{split}-*.tfrecord'))
    if not found:
        raise AssertionError(f'no shards of {split} in {folder}: {sorted(folder.iterdir())}')
    return found


def golden_rows(split: str) -> list[tuple[bytes, int]]:
    """(3072 bytes, label) of the exact CIFAR-10 rows, read by Python's own pickle."""
    rows = []
    for name in CIFAR_SPLITS[split]:
        with open(CIFAR / name, 'rb') as file:
            batch = pickle.load(file, encoding='bytes')
        rows += [(row.tobytes(), label) for row, label in zip(batch[b'data'], batch[b'labels'])]
    return rows


def _float32(value) -> bytes:
    """The four bytes of a float in JSON, so that NaN and -0 compare; NaNs are all alike."""
    number = float(value)
    return b'NaN' if number != number else struct.pack('<f', number)


_READ = {'bytesList': base64.b64decode, 'int64List': int, 'floatList': _float32}


def features_of(example: dict) -> dict:
    """{name: (kind, values)} of an Example in protobuf's JSON form; kind None: it has no list."""
    features = {}
    for name, feature in example.get('features', {}).get('feature', {}).items():
        kind = next(iter(feature), None)
        values = feature[kind].get('value', []) if kind else []
        features[name] = (kind, [_READ[kind](value) for value in values])
    return features


def cat(path) -> list[dict]:
    """Every record of a shard, as features_of() gives them."""
    lines = recpack('cat', path, '--record', ':', '--json').splitlines()
    # Integers come as strings: every number is a float, and -0 is one of them.
    return [features_of(json.loads(line, parse_int=float)) for line in lines]


class InFolder(unittest.TestCase):
    """Each test gets an empty folder."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix='recpack-interop-')
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)


def main() -> None:
    """Runs the tests of the calling script; the last line is `N passed, N failed`."""
    faulthandler.dump_traceback_later(_MOST_SECONDS, exit=True)
    # Shells have what they put aside ignore it, and all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = unittest.main(exit=False, verbosity=2).result
    # A test with several failed subtests is one failed test.
    failed = len({getattr(test, 'test_case', test).id()
                  for test, _ in result.failures + result.errors})
    print(f'{result.testsRun - failed - len(result.skipped)} passed, {failed} failed', flush=True)
    sys.stdout.flush()
    os._exit(1 if failed or result.testsRun == 0 else 0)  # DALI's threads may hang at exit
