"""Finds the line of an instruction that the compiler has given none: a jump to the begin of a loop, where several
lines end its body. Threads give up the interpreter's lock there, so samples show it often."""

_MOST = 1024  # instructions that are remembered
_known = {}


def line_number(code, at, line):
    """Returns the line of the instruction at an offset. `line`: what Python says of it."""
    if line is not None:
        return line
    key = code, at
    if key not in _known:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = _find(code, at)
    return _known[key]


def _find(code, at):
    """Returns the line of the last condition that leads there, which each round evaluates; without one, the line
    before."""
    import dis
    jumps = {*dis.hasjrel, *dis.hasjabs}
    before = [each for each in dis.get_instructions(code) if each.offset < at]
    leading = [each.offset for each in before if each.opcode in jumps and each.argval == at]
    from_there = leading[-1] if leading else at
    lines = [line for begin, _, line in code.co_lines() if begin <= from_there and line is not None]
    return lines[-1] if lines else code.co_firstlineno
