"""Entry points of the programs recpack and recprobe, which are included in the wheel."""
import os
import pathlib
import sys


def _run(name: str) -> None:
    program = pathlib.Path(__file__).parent / 'bin' / name
    os.execv(program, [name, *sys.argv[1:]])


def recpack() -> None:
    _run('recpack')


def recprobe() -> None:
    _run('recprobe')
