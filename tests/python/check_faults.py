"""Compares the errors of mypy in a file with the marks in it: `# error: WORDS OF THE MESSAGE`.

    python check_faults.py FILE [OPTION OF MYPY...]

Each marked line must have one error, with these words, and no other line may have any.
"""
import re
import subprocess
import sys
from pathlib import Path


FOLLOWS = 'No overload variant of'  # mypy adds it to the error in a call of an overloaded function


def marks(path):
    """Words by line."""
    lines = Path(path).read_text(encoding='utf-8').splitlines()
    return {number: found[1] for number, line in enumerate(lines, 1)
            if (found := re.search(r'  # error: (.+)$', line))}


def errors(path, options):
    """(line, message) of each error, also of other files."""
    command = [sys.executable, '-m', 'mypy', '--strict', '--hide-error-context', *options, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    # By its last part: mypy names files from a working folder, which may be that of an earlier run that it kept.
    return [(int(number) if Path(name).name == Path(path).name else 0, message) for name, number, message in
            re.findall(r'^(.+?):(\d+): error: (.*)$', done.stdout, re.MULTILINE)]


def differences(expected, found):
    """Says what is missing and what is not expected."""
    left = dict(expected)
    for line, message in found:
        if line in left and left[line] in message:
            del left[line]
        elif not (line in expected and message.startswith(FOLLOWS)):
            yield f'line {line}: not expected: {message}'
    for line, words in left.items():
        yield f'line {line}: no error with {words}'


def check_itself():
    """A comparison that finds nothing would pass."""
    expected = {1: 'a', 2: 'b'}
    assert not list(differences(expected, [(1, 'an a'), (2, 'a b')]))
    for found in [(1, 'a')], [(1, 'a'), (2, 'c')], [(1, 'a'), (2, 'b'), (3, 'd')], \
                 [(1, 'a'), (1, 'a'), (2, 'b')]:
        assert list(differences(expected, found)), found


def main():
    path, *options = sys.argv[1:]
    check_itself()
    expected = marks(path)
    wrong = list(differences(expected, errors(path, options)))
    print(*wrong, f'{len(expected)} faults marked, {len(wrong)} differences', sep='\n')
    sys.exit(bool(wrong) or not expected)


if __name__ == '__main__':
    main()
