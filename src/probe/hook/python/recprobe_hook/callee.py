"""Names the native function that a frame calls at the moment, from the program's text."""
import sys
from opcode import opname

from .text import line_of

_MOST = 4096  # places that are remembered
_MOST_LINES = 50  # of a call
_LONGEST = 60  # characters of a name
_known = {}
_positions = sys.version_info >= (3, 11)  # of instructions in the text


def callee_of(frame):
    """Returns what the innermost frame calls, as the program writes it (`time.sleep`, '' if that is
    not known); None if it calls nothing."""
    key = frame.f_code, frame.f_lasti
    if key not in _known:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = _find(*key, frame.f_lineno)
    return _known[key]


def _find(code, at, line):
    operation = opname[code.co_code[at]] if 0 <= at < len(code.co_code) else ''
    # At a PRECALL the call is next.
    if not ('CALL' in operation or operation in ('BEFORE_WITH', 'SETUP_WITH', 'FOR_ITER')):
        return None
    if operation == 'FOR_ITER':
        return ''
    text = _text(code, at) if _positions else line_of(code.co_filename, line or 0).strip()
    return _function(text) if 'CALL' in operation else ''


def _text(code, at):
    """Returns the text of the instruction."""
    for i, (first, last, begin, end) in enumerate(code.co_positions()):
        if i * 2 != at:
            continue
        if first is None or begin is None:
            return ''
        last = min(last, first + _MOST_LINES)
        lines = [line_of(code.co_filename, n).encode() for n in range(first, last + 1)]
        if last == first:
            return lines[0][begin:end].decode(errors='replace')
        return b''.join([lines[0][begin:], *lines[1:-1], lines[-1][:end]]).decode(errors='replace')
    return ''


def _function(text):
    """Returns the function in the text of a call: what comes before its last pair of brackets."""
    text = text.strip()
    if not _positions:  # a whole line: only if it has a single call
        if text.count('(') != 1:
            return ''
        before = text.partition('(')[0]
        return before[_name_begins(before):][-_LONGEST:]
    if not text.endswith(')'):
        return ''
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ')') - (text[i] == '(')
        if depth == 0:
            before = text[:i].strip()
            return before[_name_begins(before):].strip('.')[-_LONGEST:]
    return ''


def _name_begins(text):
    at = len(text)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in '_.'):
        at -= 1
    return at
