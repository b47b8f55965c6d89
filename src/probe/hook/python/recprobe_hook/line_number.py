"""Finds the line of an instruction that the compiler has given none: a jump to the begin of a loop, where several
lines end its body. Threads give up the interpreter's lock there, so samples show it often."""

_MOST = 1024  # instructions that are remembered
_known = {}


def line_number(code, at, line):
    """Returns the line of the instruction at an offset. `line`: what Python says of it."""
    if line is not None:
        return line
    key = code, at
    found = _known.get(key)
    if found is None:
        found = _find(code, at)
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = found
    return found


def _find(code, at):
    """Returns the line of the last condition that leads there, which each round evaluates; without one, the line
    before."""
    import dis
    jumps = {*dis.hasjrel, *dis.hasjabs}
    before = [each for each in dis.get_instructions(code) if each.offset < at]
    begin = at  # of the instruction, with what extends its argument
    for each in reversed(before):
        if each.opcode != dis.EXTENDED_ARG:
            break
        begin = each.offset
    leading = [each.offset for each in before if each.opcode in jumps and each.argval == begin]
    from_there = leading[-1] if leading else at
    lines = [line for start, _, line in code.co_lines() if start <= from_there and line is not None]
    return lines[-1] if lines else code.co_firstlineno
