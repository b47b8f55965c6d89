#!/usr/bin/env python3
"""What eight processes cost that each have a loader on one data set of very many records.

    python3 bench/pipeline/many_processes.py --build build/release --work DIR --out FILE.json

Makes the data set in DIR (4e8 records: an index of 1.6 GB and 400,000 links; taken away at the
end), starts the loaders together, gives each a few batches, and reads from /proc what is theirs
alone, what is shared, and what is open. Not a test: it takes minutes and disk.
"""
import argparse
import json
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


def rollup(pid: int) -> dict:
    """Bytes by name."""
    lines = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text(encoding='ascii').splitlines()[1:]
    return {name: int(rest.split()[0]) * 1024 for name, rest in
            (line.split(':', 1) for line in lines)}


def of_index(pid: int, path: pathlib.Path) -> dict:
    """Resident and proportional bytes of the mapped index."""
    sums, inside = {'Rss': 0, 'Pss': 0}, False
    for line in pathlib.Path(f'/proc/{pid}/smaps').read_text(encoding='utf-8').splitlines():
        name, _, rest = line.partition(':')
        if '-' in line.split(' ', 1)[0]:
            inside = line.endswith(str(path))
        elif inside and name in sums:
            sums[name] += int(rest.split()[0]) * 1024
    return sums


def opened(pid: int) -> int:
    return len(list(pathlib.Path(f'/proc/{pid}/fd').iterdir()))


def mappings(pid: int) -> int:
    return len(pathlib.Path(f'/proc/{pid}/maps').read_text(encoding='utf-8').splitlines())


def measure(program: str, folder: pathlib.Path, processes: int) -> list[dict]:
    runs = [subprocess.Popen([program, 'load', folder, str(rank), str(processes)], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for rank in range(processes)]
    results = [json.loads(run.stdout.readline()) for run in runs]
    for run in runs:
        run.stdin.write('x' * BATCHES)
        run.stdin.flush()
    time.sleep(2)
    for run, result in zip(runs, results):
        memory, index = rollup(run.pid), of_index(run.pid, folder / 'train.recindex')
        result.update(rss_mb=memory['Rss'] / MB, pss_mb=memory['Pss'] / MB,
                      anonymous_mb=memory['Anonymous'] / MB, index_rss_mb=index['Rss'] / MB,
                      index_pss_mb=index['Pss'] / MB, open_files=opened(run.pid),
                      mappings=mappings(run.pid))
    for run in runs:
        run.stdin.close()
        run.wait()
    return results


def spread(rows: list[dict]) -> dict:
    return {name: {'median': round(statistics.median(row[name] for row in rows), 4),
                   'min': round(min(row[name] for row in rows), 4),
                   'max': round(max(row[name] for row in rows), 4)} for name in rows[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--work', type=pathlib.Path, required=True)
    parser.add_argument('--out', type=pathlib.Path, required=True)
    parser.add_argument('--records', type=int, default=400_000_000)
    parser.add_argument('--processes', type=int, default=8)
    flags = parser.parse_args()
    program = str(flags.build / 'bench/pipeline/many_records')
    folder = flags.work / 'many-records'
    try:
        began = time.monotonic()
        subprocess.run([program, 'make', folder, str(flags.records)], check=True)
        made = time.monotonic() - began
        alone = measure(program, folder, 1)
        together = measure(program, folder, flags.processes)
        result = {'date': machine.today(), 'machine': machine.describe(flags.work),
                  'records': flags.records, 'shards': flags.records // 1000,
                  'index_mb': round((folder / 'train.recindex').stat().st_size / MB, 1),
                  'make_seconds': round(made, 1), 'order': 'global', 'batch_size': 256,
                  'threads': 2, 'one_process': spread(alone), 'processes': flags.processes,
                  'each_process': spread(together),
                  'all_processes': {'rss_mb': round(sum(r['rss_mb'] for r in together), 1),
                                    'pss_mb': round(sum(r['pss_mb'] for r in together), 1)}}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    flags.out.write_text(json.dumps(result, indent=1) + '\n', encoding='ascii')
    print(json.dumps({key: result[key] for key in ('each_process', 'all_processes')}, indent=1))


if __name__ == '__main__':
    main()
