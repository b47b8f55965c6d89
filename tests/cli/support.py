"""Base class of the tests of the recpack program, which run it as a user does."""
import faulthandler
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

RECPACK = os.environ['RECPACK']
GOLDEN = pathlib.Path(os.environ['RECPACK_GOLDEN_DIR'])
CIFAR = GOLDEN / 'cifar10'
DONE, FINDING, FAILURE = 0, 1, 2
# What oneDNN takes to compute bf16 on x64: AVX-512 (with BW, DQ and VL), or AVX-NE-CONVERT.
HAS_BF16 = re.search(r'\b(avx512bw|avx_ne_convert)\b', pathlib.Path('/proc/cpuinfo').read_text('utf-8')) is not None
# Tests that hang say where they do, before ctest ends them without a word.
if 'RECPACK_TEST_SECONDS' in os.environ:
    faulthandler.dump_traceback_later(0.9 * float(os.environ['RECPACK_TEST_SECONDS']), exit=True)


def hear_ctrl_c():
    """For `preexec_fn`: shells have what they put behind them ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class CliTest(unittest.TestCase):
    """Each test has an empty folder, self.folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='recpack-cli-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_recpack(self, *words, code=DONE, env=None, **options):
        done = subprocess.run([RECPACK, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120,
                              env={**os.environ, 'no_proxy': '127.0.0.1,localhost', **(env or {})},
                              **options)
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def json(self, *words, code=DONE, **options):
        done = self.run_recpack(*words, '--json', code=code, **options)
        return json.loads(done.stdout)

    def fails(self, *words, saying, **options):
        """The program fails, prints nothing but an error, and that says what and what to do."""
        done = self.run_recpack(*words, code=FAILURE, **options)
        self.assertEqual(done.stdout, '')
        for text in [saying] if isinstance(saying, str) else saying:
            self.assertIn(text, done.stderr)

    def pack(self, source, *flags, out='out', **options):
        return self.json('pack', source, self.folder / out, '--no-sync', *flags, **options)

    def damage_records(self, *ordinals, out='out', split='train'):
        """A byte of each of these records' payloads is another one; of equal records."""
        shard = next((self.folder / out).glob(f'{split}-00000-of-00001.tfrecord'))
        content = bytearray(shard.read_bytes())
        size = 16 + int.from_bytes(content[:8], 'little')
        for ordinal in ordinals:
            content[ordinal * size + 100] ^= 1
        shard.write_bytes(content)

    def class_folder(self, files=40, classes=('ant', 'bee'), name='photos'):
        """Small files of arbitrary bytes in class folders."""
        chance = random.Random(7)
        root = self.folder / name
        for i in range(files):
            path = root / classes[i % len(classes)] / f'{i:04}.bin'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(chance.randrange(1, 3000)))
        return root

    def shards(self, out='out'):
        """The bytes of every file a user sees, by name."""
        return {p.name: p.read_bytes() for p in sorted((self.folder / out).iterdir())
                if p.is_file()}

    def equal_shards(self, one, other, but=()):
        """As assertEqual, but says the names that differ and not the bytes."""
        names = {n for n in one.keys() | other.keys()
                 if n not in but and one.get(n) != other.get(n)}
        self.assertEqual(names, set())
