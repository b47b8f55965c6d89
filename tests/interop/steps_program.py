"""A program that tells recprobe of 100 steps."""
# A step of a training, in which a wait, a copy and a device's work follow each other.
PROGRAM = '''
import os, struct, time
log = open(f"{os.environ['RECPACK_EVENTS']}/{os.getpid()}-test.events", "wb", buffering=0)
def put(kind, flags, begin, end, value=0):
    log.write(struct.pack("<BBHIIIqqQ", kind, flags, 0, 1, 0, 0, begin, end, value))
put(0, 0, time.monotonic_ns(), 0, 0x315456454b504352)
at = time.monotonic_ns()
for step in range(100):
    put(3, 0, at, at + 3_000)
    put(5, 0x10, at + 3_000, at + 4_000, 4096)
    put(4, 0, at + 4_000, at + 10_000)
    put(2, 0, at, at + 10_000, step)
    at += 10_000
time.sleep(1)
'''
