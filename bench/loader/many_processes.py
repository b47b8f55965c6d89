#!/usr/bin/env python3
"""Measures the cost of eight processes that each load from one data set of very many records.

    python3 bench/loader/many_processes.py --work DIR --out bench/results/many-records.json

Makes the data set in DIR (4e8 records: an index of 1.7 GB and 400,000 links; taken away at the
end), starts the loaders together, gives each a few batches, and reads from /proc what is theirs
alone, what is shared, and what is open. Takes about half a minute.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import machine  # noqa: E402

MB = 2**20
BATCHES = 20
INDEX = 'train.recindex'


def sums(pid: int, file: str, words: tuple[str, ...], path: str = '') -> dict[str, int]:
    """Bytes by name in /proc/PID/FILE; with a path, of its mappings only."""
    found, inside = dict.fromkeys(words, 0), not path
    for line in pathlib.Path(f'/proc/{pid}/{file}').read_text(encoding='utf-8').splitlines():
        name, _, rest = line.partition(':')
        if path and '-' in line.split(' ', 1)[0]:
            inside = line.endswith(path)
        elif inside and name in found:
            found[name] += int(rest.split()[0]) * 1024
    return found


def memory(pid: int, index: pathlib.Path) -> dict[str, float]:
    """In MB: of the process, what is its own, and what is of the mapped index."""
    of_all = sums(pid, 'smaps_rollup', ('Rss', 'Pss', 'Anonymous'))
    mapped = sums(pid, 'smaps', ('Size', 'Rss', 'Pss', 'Anonymous'), str(index))
    return {f'{prefix}{name.lower()}_mb': size / MB for prefix, sizes in
            (('', of_all), ('index_', mapped)) for name, size in sizes.items()}


def opened(pid: int) -> int:
    return len(list(pathlib.Path(f'/proc/{pid}/fd').iterdir()))


def mappings(pid: int) -> int:
    return len(pathlib.Path(f'/proc/{pid}/maps').read_text(encoding='utf-8').splitlines())


def measure(program: str, folder: pathlib.Path, processes: int) -> list[dict]:
    runs = [subprocess.Popen([program, 'load', folder, str(rank), str(processes), str(BATCHES),
                              str(time.monotonic_ns())], text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE) for rank in range(processes)]
    try:
        results = [json.loads(run.stdout.readline()) for run in runs]
        for run, result in zip(runs, results):
            result.update(memory(run.pid, folder / INDEX), open_files=opened(run.pid),
                          mappings=mappings(run.pid))
    finally:
        for run in runs:
            run.communicate()
    return results


def spread(rows: list[dict]) -> dict:
    return {name: {'median': round(statistics.median(row[name] for row in rows), 4),
                   'min': round(min(row[name] for row in rows), 4),
                   'max': round(max(row[name] for row in rows), 4)}
            for name in rows[0] if name != 'records'}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--work', type=pathlib.Path, required=True)
    parser.add_argument('--out', type=pathlib.Path, required=True)
    parser.add_argument('--records', type=int, default=400_000_000)
    parser.add_argument('--processes', type=int, default=8)
    flags = parser.parse_args()
    program = str(flags.build / 'tests/bench/many_records')
    folder = flags.work / 'many-records'
    try:
        began = time.monotonic()
        subprocess.run([program, 'make', folder, str(flags.records)], check=True)
        made = time.monotonic() - began
        load = os.getloadavg()[0]  # what others did, before we did much
        alone = measure(program, folder, 1)
        together = measure(program, folder, flags.processes)
        result = {'date': machine.today(), 'machine': machine.describe(flags.work),
                  'load_average': round(load, 2),
                  'records': flags.records, 'shards': flags.records // 1000,
                  'index_mb': round((folder / INDEX).stat().st_size / MB, 1),
                  'make_seconds': round(made, 1), 'order': 'global', 'batch_size': 256,
                  'threads': 2, 'one_process': spread(alone), 'processes': flags.processes,
                  'batches': BATCHES, 'each_process': spread(together),
                  'all_processes': {'rss_mb': round(sum(r['rss_mb'] for r in together), 1),
                                    'pss_mb': round(sum(r['pss_mb'] for r in together), 1)}}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    flags.out.write_text(json.dumps(result, indent=1) + '\n', encoding='ascii')
    print(json.dumps({key: result[key] for key in ('each_process', 'all_processes')}, indent=1))


if __name__ == '__main__':
    main()
