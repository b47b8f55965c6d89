"""Programs that a terminal's Ctrl-C interrupts."""
import subprocess
import sys
import textwrap

_PROGRAM = '''
import os, signal, sys, threading, time
import recpack_io
{before}
if __name__ == "__main__":
    os.setpgrp()  # a terminal sends it to all processes of a group
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have what they put aside ignore it
{begin}
    try:
        threading.Timer({seconds}, os.killpg, (os.getpgrp(), signal.SIGINT)).start()
{work}
    except KeyboardInterrupt:
        print("interrupted")
'''


def _indented(text, depth):
    return textwrap.indent(textwrap.dedent(text).strip('\n'), ' ' * depth)


def ctrl_c(folder, work, *arguments, before='', begin='', seconds=0.3):
    """Runs a program, kept in `folder`: `before` is at the top of its module, then `begin`, then
    `work`, which is interrupted. Prints "interrupted" where that came out as KeyboardInterrupt."""
    path = folder / 'interrupted.py'
    path.write_text(_PROGRAM.format(before=textwrap.dedent(before), begin=_indented(begin, 4),
                                    work=_indented(work, 8), seconds=seconds))
    return subprocess.run([sys.executable, str(path), *map(str, arguments)], text=True,
                          capture_output=True, timeout=120, check=False)


ENDLESS = '''
while True:
    for batch in loader:
        pass
'''
SLOW_CALLS = '''
def call(sample):
    time.sleep(0.01)
    return {"x": 1}
'''
LOADER_OF_CALLS = '''
dataset = recpack_io.open(sys.argv[1])
loader = recpack_io.Loader(dataset, fields=[recpack_io.Function(call, {"x": "uint8"})],
                           batch_size=8, workers=int(sys.argv[2]))
'''
