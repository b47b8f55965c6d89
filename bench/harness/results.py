"""Writes and reads results: a summary as JSON, and the cases behind it compressed beside it."""
import json
import lzma
import pathlib

CASES = '-cases.json.xz'  # NAME.json has its cases in NAME-cases.json.xz


def cases_file(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(path.stem + CASES)


def _text(value: object) -> str:
    return json.dumps(value, indent=1) + '\n'


def write(results: dict, path: pathlib.Path) -> None:
    """Writes `results`, with its list `cases` compressed beside it."""
    rest = {key: value for key, value in results.items() if key != 'cases'}
    rest['cases_file'] = cases_file(path).name
    cases_file(path).write_bytes(lzma.compress(_text(results['cases']).encode(), preset=9))
    path.write_text(_text(rest), encoding='utf-8')


def read(path: pathlib.Path) -> dict:
    """Reads what write() wrote, `cases` included."""
    results = json.loads(path.read_text(encoding='utf-8'))
    file = path.with_name(results.pop('cases_file'))
    return {**results, 'cases': json.loads(lzma.decompress(file.read_bytes()))}
