#!/usr/bin/env python3
"""Simulates epochs of up to 10,000 ranks, and opens a data set of a million shards.

    python3 bench/loader/scale.py --work DIR --out bench/results/scale.json
    python3 bench/loader/scale.py --table bench/results/scale.json       the tables of docs/guide/scale.md

The loader's own schedule and order say which records each rank reads; no record is read. The data set of a
million shards is made in DIR (2 GB and a million links, taken away at the end). Takes about five minutes.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import machine  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import many_processes  # noqa: E402

PHOTO = 100_000  # bytes of a record
SHARD = 100_000_000  # bytes
BLOCK = 10  # records of a block of the window order, for photos
GET_PRICE = 0.4e-6  # dollars a request: 0.0004 a thousand, Amazon S3's list price in us-east-1
FITTED = f'window:{BLOCK}:10000:2'  # each rank has a lane of its own
# Records, ranks, batch, order, samples of each rank (None: all).
EPOCHS = [(10**6, 1, 256, 'global', None), (10**6, 1, 256, 'window', None), (10**6, 8, 256, 'global', None),
          (10**6, 8, 256, 'window', None), (10**9, 64, 256, 'window', 10**6), (10**9, 10**4, 32, 'global', None),
          (10**9, 10**4, 32, FITTED, None), (10**9, 10**4, 32, 'window', 10**4), (10**12, 10**4, 32, 'global', 10**5),
          (10**12, 10**4, 32, FITTED, 10**5)]
SHARDS, OF_SHARD = 10**6, 100


def index_bytes(records: int, shards: int) -> float:
    """Bytes of an index of records of differing lengths, by docs/format/index.md."""
    return records * (4 + 4 + 8 / 64) + shards * (88 + 32)


def model(records: int, ranks: int) -> dict:
    """What an epoch of photos takes, for orders whose lanes suit the ranks."""
    shards = max(1, records * PHOTO // SHARD)
    return {'records': records, 'ranks': ranks, 'data_bytes': records * PHOTO, 'shards': shards,
            'index_bytes': index_bytes(records, shards),
            'reads_of_rank': {'global': records / ranks, 'window': records / ranks / BLOCK},
            'get_dollars': {'global': records * GET_PRICE, 'window': records / BLOCK * GET_PRICE}}


def simulate(program: pathlib.Path, records: int, ranks: int, batch: int, order: str, most: int | None) -> dict:
    words = [program, records, PHOTO, ranks, batch, order, *([most] if most else [])]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    result['core_ns_a_sample'] = round(1e9 * result['seconds'] * result['threads'] / result['samples'], 1)
    return result


def open_shards(program: str, folder: pathlib.Path, shards: int) -> dict:
    """Opens a data set of so many shards, and takes a batch: from a cold and from a warm cache."""
    try:
        begin = time.monotonic()
        subprocess.run([program, 'make', folder, str(shards * OF_SHARD), str(OF_SHARD)], check=True)
        made = time.monotonic() - begin
        many_processes.measure(program, folder, 1)
        warm = many_processes.measure(program, folder, 1)[0]
        manifest = (folder / 'manifest.json').stat().st_size
        index = (folder / many_processes.INDEX).stat().st_size
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {'shards': shards, 'records': shards * OF_SHARD, 'index_bytes': index, 'manifest_bytes': manifest,
            'make_seconds': round(made, 1), **warm}


def number(value: float) -> str:
    for size, name in (1e15, ' P'), (1e12, ' T'), (1e9, ' G'), (1e6, ' M'), (1e3, ' k'):
        if value >= size:
            return f'{value / size:,.3g}{name}'
    return f'{value:,.3g}'


def power(value: int) -> str:
    if value < 100:
        return str(value)
    return '10' + ''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(digit)] for digit in str(len(str(value)) - 1))


def dollars(value: float) -> str:
    return f'{value:,.0f} $' if value >= 10 else f'{value:,.2g} $'


def row(*cells: str) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def model_table() -> list[str]:
    lines = [row('records', 'ranks', 'data', 'shards', 'index', 'reads of a rank: global', 'window', 'requests: global',
                 'window'), row(*['---'] * 9)]
    for records in 10**6, 10**9, 10**12:
        for ranks in 1, 100, 10**4:
            each = model(records, ranks)
            reads, cost = each['reads_of_rank'], each['get_dollars']
            lines.append(row(power(records), power(ranks), number(each['data_bytes']) + 'B', number(each['shards']),
                             number(each['index_bytes']) + 'B', number(reads['global']), number(reads['window']),
                             dollars(cost['global']), dollars(cost['window'])))
    return lines


def epoch_table(epochs: list[dict]) -> list[str]:
    lines = [row('records', 'ranks', 'order', 'samples simulated', 'doubled, missed', 'samples of a rank',
                 'shards that it opens', 'its reads', 'seconds', 'core-ns a sample', 'memory'), row(*['---'] * 11)]
    for each in epochs:
        whole = each['samples'] == each['records']
        counts = each['samples_of_rank']
        lines.append(row(
            power(each['records']), power(each['ranks']), f"`{each['order']}`",
            'all' if whole else f"{number(each['samples'])}, of {each['simulated_ranks']} ranks",
            f"{each['doubled']}, {each['missed']}" if whole else '–',
            number(counts['least']) if counts['least'] == counts['most'] else f"{counts['least']:,} to {counts['most']:,}",
            number(each['shards_of_rank']['median']), number(each['reads_of_rank']['median']), f"{each['seconds']:.1f}",
            f"{each['core_ns_a_sample']:.0f}", f"{each['peak_mb']:,.0f} MB"))
    return lines


def table(results: dict) -> str:
    opened = results['opened']
    return '\n'.join([*model_table(), '', *epoch_table(results['epochs']), '',
                      f"Opening {number(opened['shards'])} shards of {number(opened['records'])} records: "
                      f"{opened['open_seconds']:.2f} s; to the first batch {opened['first_batch_seconds']:.2f} s; "
                      f"index {number(opened['index_bytes'])}B, manifest {number(opened['manifest_bytes'])}B; memory "
                      f"{opened['anonymous_mb']:,.0f} MB of its own, {opened['index_rss_mb']:,.0f} MB mapped of the index."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--work', type=pathlib.Path)
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--table', type=pathlib.Path, help='print these results and run nothing')
    flags = parser.parse_args()
    if flags.table:
        print(table(json.loads(flags.table.read_text(encoding='utf-8'))))
        return
    if not flags.work or not flags.out:
        parser.error('--work and --out are missing')
    programs = flags.build / 'tests/bench'
    load = os.getloadavg()[0]
    results = {'date': machine.today(), 'machine': machine.describe(flags.work), 'load_average': round(load, 2),
               'opened': open_shards(str(programs / 'many_records'), flags.work / 'many-shards', SHARDS), 'epochs': []}
    for epoch in EPOCHS:
        results['epochs'].append(simulate(programs / 'epoch_of_ranks', *epoch))
        print(json.dumps(results['epochs'][-1]), flush=True)
    flags.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')
    print(table(results))


if __name__ == '__main__':
    main()
