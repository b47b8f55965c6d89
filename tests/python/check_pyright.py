"""Compares the lines on which pyright finds errors with those marked for check_faults.py.

    python check_pyright.py PYTHON FILE... [-- FOLDER...]

Runs basedpyright, which is pyright from PyPI alone, by pyright's own rules. PYTHON: the interpreter whose packages the
files import; FOLDER: more of its packages. Messages differ from mypy's: only lines are compared.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from check_faults import marks


def lines_with_errors(python, files, folders):
    """Lines by file."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / 'pyrightconfig.json'
        config.write_text(json.dumps({'include': files, 'extraPaths': folders, 'typeCheckingMode': 'standard'}))
        done = subprocess.run([Path(sys.executable).parent / 'basedpyright', '-p', config, '--pythonpath', python,
                               '--outputjson'], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    found = {}
    for each in json.loads(done.stdout)['generalDiagnostics']:
        if each['severity'] == 'error':
            found.setdefault(each['file'], {})[each['range']['start']['line'] + 1] = each['message']
    return found


def main():
    words = sys.argv[1:]
    end = words.index('--') if '--' in words else len(words)
    python, files, folders = words[0], [str(Path(name).resolve()) for name in words[1:end]], words[end + 1:]
    found = lines_with_errors(python, files, folders)
    wrong, marked = [], 0
    for name in files:
        expected, errors = marks(name), found.pop(name, {})
        marked += len(expected)
        wrong += [f'{name}:{line}: not expected: {errors[line]}' for line in errors.keys() - expected.keys()]
        wrong += [f'{name}:{line}: no error' for line in expected.keys() - errors.keys()]
    wrong += [f'{name}: {errors}' for name, errors in found.items()]
    print(*wrong, f'{marked} faults marked, {len(wrong)} differences', sep='\n')
    sys.exit(bool(wrong) or not marked)


if __name__ == '__main__':
    main()
