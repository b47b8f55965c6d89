"""Program `recpack migrate`: prints the change of a PyTorch program, or makes it."""
from __future__ import annotations

import argparse
import os
import sys

from recpack_io.migrate.rewrite import migrate

_EPILOG = """\
The change goes to standard output, as `diff -u` prints it: `recpack migrate train.py | patch` makes
it too. What was left, and why, goes to standard error.

Exit code: 0 if there is a change, 1 if nothing can be changed, 2 on errors.

Examples:
  recpack migrate train.py
  recpack migrate train.py --write
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog='recpack migrate', epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description='Changes a PyTorch program so that it loads its data with recpack: data sets of '
                    'torchvision, their transforms, and DataLoaders. The program is not run.')
    parser.add_argument('program', metavar='PROGRAM', help='a Python file')
    parser.add_argument('--write', action='store_true', help='change the file')
    given = parser.parse_args()
    try:
        with open(given.program, encoding='utf-8', newline='') as file:
            before = file.read()
        result = migrate(before, os.path.dirname(given.program))
    except (OSError, UnicodeDecodeError) as error:
        print(f'recpack: {given.program}: cannot be read: {error}', file=sys.stderr)
        return 2
    except SyntaxError as error:
        print(f'recpack: {given.program}:{error.lineno}: is no program for this Python: {error.msg}',
              file=sys.stderr)
        return 2
    for title, lines in (('changed', result.done), ('note', result.notes), ('left', result.left)):
        for line in lines:
            print(f'{title}: {given.program}:{line}' if line[:1].isdigit() else f'{title}: {line}',
                  file=sys.stderr)
    if not result.done:
        return 1
    if given.write:
        with open(given.program, 'w', encoding='utf-8', newline='') as file:
            file.write(result.text)
    else:
        sys.stdout.write(result.diff(before, given.program))
    return 0


if __name__ == '__main__':
    sys.exit(main())
