"""Reads the text of programs. A sampler keeps the interpreter lock meanwhile as far as it can."""
import linecache

from . import wake


def lines_of(path):
    """Returns the lines of a file, without any where it cannot be read."""
    if path in linecache.cache:
        return linecache.getlines(path)
    return wake.in_a_hurry(linecache.getlines, path)


def line_of(path, number):
    """Returns a line, by its number from 1 on; '' if there is none."""
    lines = lines_of(path)
    return lines[number - 1] if 1 <= number <= len(lines) else ''
