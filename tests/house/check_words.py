#!/usr/bin/env python3
"""Finds comments and messages that are hard to read, in the project's own sources and documents.

usage: check_words.py ROOT      prints FILE:LINE: REASON; exits 0 (none), 1 (some) or 2 (usage)

- A file that begins with a comment or docstring says in its first line, with a noun or verb first, what it does:
  "How ...", "What ...", "Of ...", "Whether ..." and the like are refused there.
- No comment begins with "Of": it names what it is about.
- No message says "is no order": it says what it expected.
"""
import pathlib
import re
import subprocess
import sys

CODE = {'.h', '.cc', '.cu', '.cuh'}
SCRIPTS = {'.py', '.sh', '.cmake'}
# Made by others, or by programs; and this file's own test, which plants what is looked for.
LEFT_OUT = ('tests/golden/', 'bench/results/', 'docs/images/', 'tests/house/check_words')
RIDDLE = re.compile(r"(What|How|Of|Whether|Where|Which|When|Who|Whose|Why|That|Those|Whatever|If)\b")
COMMENT = re.compile(r'(?:^|\s)(?://|#)\s*(.*)$')
IS_NO = re.compile(r"(?<!there )\b(?:is|are) no (?!longer\b|more\b|less\b|later\b|earlier\b|one\b)[a-z]")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def first_line(path: pathlib.Path, text: str) -> tuple[int, str]:
    """The line number and text of the comment or docstring that a file begins with; (0, '') without one."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('#!') or not line.strip():
            continue
        if path.suffix in CODE:
            return (number, line[2:].strip()) if line.startswith('//') else (0, '')
        docstring = re.match(r'[ru]?"""\s*(.*)', line)
        if docstring and path.suffix == '.py':
            return number, docstring[1]
        return (number, line.lstrip('# ').strip()) if line.startswith('#') else (0, '')
    return 0, ''


def comments(path: pathlib.Path, text: str):
    """(line number, text) of each comment's beginning; a comment's later lines are not given."""
    mark = '//' if path.suffix in CODE else '#'
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith(mark):
            if not inside:
                yield number, stripped[len(mark):].strip()
            inside = True
            continue
        inside = False
        found = re.search(r'\s' + mark + r' ([A-Z].*)$', line)
        if found:
            yield number, found[1]


def findings(path: pathlib.Path, text: str):
    number, first = first_line(path, text)
    if RIDDLE.match(first):
        yield number, f'the first line is a riddle, say what the file does: {first}'
    for number, comment in comments(path, text):
        if re.match(r'Of\b', comment):
            yield number, f'a comment begins with "Of", name what it is about: {comment}'
    for number, line in enumerate(text.splitlines() if path.suffix == '.py' else (), 1):
        if re.match(r'\s*[ru]?\"\"\"Of\b', line):
            yield number, f'a docstring begins with "Of", say what it is about: {line.strip()}'
    if path.suffix in CODE:
        for number, line in enumerate(text.splitlines(), 1):
            code = line.split('//')[0] if '"' not in line else line
            for string in STRING.findall(code):
                if IS_NO.search(string):
                    yield number, f'a message says "is no", say what was expected: {string}'


def files(root: pathlib.Path) -> list[str]:
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=root, capture_output=True,
                            text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [
        path.relative_to(root).as_posix() for path in root.rglob('*') if path.is_file()]
    return sorted(name for name in names if pathlib.PurePosixPath(name).suffix in CODE | SCRIPTS
                  and not name.startswith(LEFT_OUT) and (root / name).is_file())


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    found = 0
    for name in files(root):
        if len(sys.argv) > 2 and not name.startswith(tuple(sys.argv[2:])):
            continue
        path = root / name
        for number, reason in findings(path, path.read_text('utf-8')):
            print(f'{name}:{number}: {reason}')
            found += 1
    print(f'{found} found')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
