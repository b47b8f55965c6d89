"""Turns the output of a step of bench/gpu.sh into rows: row.py STEP STATUS SECONDS OUT ERR.

Each line of JSON is a row. A step that fails is one as well; of one whose words say that the
machine lacks what it needs, the row says "unavailable".
"""
import json
import sys

# What programs of ours say of what is not there.
LACKS = ('gradients cannot be summed by NCCL: ', 'no NCCL', 'cannot be loaded',
         'ModuleNotFoundError: ')
KILLED = ('124', '137')  # by timeout, at once or as it did not end


def rows(step: str, status: str, seconds: str, out: list, err: list) -> list:
    """A dict a row."""
    told = [{'step': step, **json.loads(line)} for line in out if line.startswith('{')]
    if status == '0':
        return told
    said = [line for line in err if any(words in line for words in LACKS)]
    if said:
        return [*told, {'step': step, 'unavailable': said[-1]}]
    why = f'took more than {seconds} s' if status in KILLED else f'ended with {status}'
    return [*told, {'step': step, 'failed': ' | '.join([why, *err[-3:], *out[-3:]])}]


def main() -> None:
    """Reads both files."""
    step, status, seconds, *files = sys.argv[1:]
    out, err = (open(path, errors='replace').read().splitlines() for path in files)
    for row in rows(step, status, seconds, out, err):
        print(json.dumps(row))


if __name__ == '__main__':
    main()
