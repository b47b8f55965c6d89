"""Entry points of the programs recpack and recprobe, which are included in the wheel."""
import os
import pathlib
import signal
import sys


def _run(name: str) -> None:
    program = pathlib.Path(__file__).parent / 'bin' / 'recpack'  # it is both, by the name that it is given
    # Python ignores these; then the program would call it an error that `head` has read enough.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.environ['RECPACK_PYTHON'] = sys.executable  # for `recpack migrate`
    os.execv(program, [name, *sys.argv[1:]])


def recpack() -> None:
    _run('recpack')


def recprobe() -> None:
    _run('recprobe')
