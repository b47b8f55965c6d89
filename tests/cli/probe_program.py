"""Base class of the tests of the recprobe program."""
import json
import os
import subprocess
import sys

from support import CIFAR, CliTest, DONE

RECPROBE = os.environ['RECPROBE']
RECTRAIN = os.environ.get('RECTRAIN')


def telling(step):
    """A program that tells of 100 steps of 10 us; `step`: what it puts of each one."""
    return [sys.executable, '-c', f'''
import os, struct, time
log = open(f"{{os.environ['RECPACK_EVENTS']}}/{{os.getpid()}}-test.events", "wb", buffering=0)
def put(kind, device, lane, begin, end, value=0, flags=0):
    log.write(struct.pack("<BBHIIIqqQ", kind, flags, device, lane, 0, 0, begin, end, value))
put(0, 65535, os.getpid(), time.monotonic_ns(), 0, 0x315456454b504352)
at = time.monotonic_ns()
for step in range(100):
    {step}
    put(2, 0, 1, at, at + 10_000, step)
    at += 10_000
''']


# Steps of 8 ms, by the clock; `kept` has a megabyte of each one, or of the last one.
def growing(keeps):
    return [sys.executable, '-c', f'''
import os, struct, time
log = open(f"{{os.environ['RECPACK_EVENTS']}}/{{os.getpid()}}-test.events", "wb", buffering=0)
def put(kind, device, lane, begin, end, value=0, flags=0):
    log.write(struct.pack("<BBHIIIqqQ", kind, flags, device, lane, 0, 0, begin, end, value))
put(0, 65535, os.getpid(), time.monotonic_ns(), 0, 0x315456454b504352)
at, kept = time.monotonic_ns(), []
for step in range(700):
    kept{'.append' if keeps else ' = bytes'}(b"x" * (1 << 20))
    time.sleep(0.008)
    now = time.monotonic_ns()
    put(4, 0, 1, at, now)
    put(2, 0, 1, at, now, step)
    at = now
''']


# 30 % wait, and else the device's work.
EVENTS = telling('put(3, 0, 1, at, at + 3_000); put(4, 0, 1, at + 3_000, at + 10_000)')
# 40 % copies within the device.
MOVING = telling('put(5, 0, 2, at, at + 4_000, 1 << 20, 0x30); '
                 'put(4, 0, 1, at + 4_000, at + 10_000)')


class ProbeCase(CliTest):
    def probe(self, *words, code=DONE, **options):
        done = subprocess.run([RECPROBE, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=240, **options)
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def verdict(self, *words, code=DONE, **options):
        done = self.probe(*words, code=code, **options)
        return json.loads(done.stdout.splitlines()[-1])

    def train(self, *flags):
        self.pack(CIFAR)
        return [RECTRAIN, 'train', self.folder / 'out', '--batch-size', '8', *flags]
