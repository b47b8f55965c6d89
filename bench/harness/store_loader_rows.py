"""The rows of bench/results/remote.json that compare loaders of photos, each as its own experts would run it."""
import json
import shutil
import statistics

from harness.entrants import ROOT, python_of
from harness.program import say
from harness.remote_stand import BUCKET

SCRIPT = str(ROOT / 'bench' / 'peers' / 'peer_store_loader.py')
SITE = str(ROOT / 'build' / 'python' / 'site')  # tests/python/environments.sh makes it
DATA = 'few'
DELAY_MS = 20
OURS = 'recpack'
# Its environment, and the ways to run it, workers and variant, of which the fastest counts.
WAYS = {
    OURS: ('vision', [(2, '')]),
    'webdataset': ('remote', [(2, 'cache'), (2, 'stream'), (2, 'curl')]),
    'mds': ('streams', [(2, '')]),
    'litdata': ('streams', [(2, 'all')]),
    'lance': ('remote', [(2, 'spawn'), (2, 'forkserver')]),
    's3torchconnector': ('remote', [(8, ''), (16, '')])}
LABELS = {'webdataset': 'WebDataset over s3fs', 'mds': 'MosaicML Streaming', 'litdata': 'LitData', 'lance': 'Lance'}
EPOCHS = 'cold', 'warm'
PHOTOS, BATCH = 5120, 128
LONGEST = 120  # seconds, for both epochs


def prepare(bench, loader: str) -> str:
    """What the loader reads, made once. Returns its key."""
    key = DATA if loader == OURS else f'{DATA}-{loader}'
    out = bench.folder / key
    if not out.exists():
        part = out.with_name(key + '.part')
        shutil.rmtree(part, ignore_errors=True)
        bench.run([python_of(bench.setting, WAYS[loader][0]), SCRIPT, 'write', loader,
                   str(bench.setting.work / 'remote-files' / DATA), str(part)])
        part.rename(out)
    names = bench.setting.work / f'{key}.names'
    names.write_text('\n'.join(sorted(str(p.relative_to(out)) for p in out.rglob('*') if p.is_file())), encoding='utf-8')
    return key


def epochs_of(bench, loader: str, way: tuple[int, str], port: int) -> list[dict]:
    """Throws RuntimeError where the loader fails, hangs, or leaves out samples."""
    workers, variant = way
    key = prepare(bench, loader)
    more = {'PYTHONPATH': SITE} if loader == OURS else {}
    words = [python_of(bench.setting, WAYS[loader][0]), SCRIPT, 'read', loader, f's3://{BUCKET}/{key}', '--names',
             str(bench.setting.work / f'{key}.names'), '--cache', str(bench.setting.work / 'cache'), '--workers', str(workers),
             '--variant', variant]
    rows = bench.run(['timeout', '-k', '5', str(LONGEST), *words], port, RECPACK_CACHE=str(bench.setting.work / 'cache'), **more)
    for row in rows:
        if not PHOTOS - BATCH * workers <= row['images'] <= PHOTOS + BATCH * workers:
            raise RuntimeError(f"an epoch had {row['images']} photos")
    return rows


def run_all(bench, rounds: int, port: int) -> tuple[dict, dict]:
    """Returns the rows of each loader's ways, run by run, and what runs failed with."""
    runs, failures = {}, {}
    for _ in range(rounds):
        for loader, (_, ways) in WAYS.items():
            for way in ways:
                try:
                    rows = epochs_of(bench, loader, way, port)
                except RuntimeError as error:
                    if loader == OURS:
                        raise
                    failures.setdefault(loader, []).append(f'{way}: {str(error).splitlines()[-1].strip()}')
                    say(f'{loader}: {failures[loader][-1]}')
                    continue
                runs.setdefault(loader, {}).setdefault(way, []).append(rows)
                say(json.dumps({'loader': loader, 'way': way, 'rows': rows}))
    return runs, failures


def loaders(bench, rounds: int) -> list[dict]:
    with bench.proxy(delay_ms=DELAY_MS) as proxy:
        runs, failures = run_all(bench, rounds, proxy.port)
    bench.forget()
    return rows_of(runs, failures, bench.size(DATA) / 1e9)


def rows_of(runs: dict, failures: dict, gigabytes: float) -> list[dict]:
    rates, costs, configs = {}, {}, {}
    for loader, ways in runs.items():
        for at, epoch in enumerate(EPOCHS):
            best = min(ways.values(), key=lambda of: statistics.median(run[at]['seconds'] for run in of))
            label = f"{LABELS.get(loader, loader)} {best[0][at]['version']}, {epoch}"
            rates[label] = [run[at]['images'] / run[at]['seconds'] for run in best]
            costs[label] = [run[at]['cpu_seconds'] / gigabytes for run in best]
            configs.setdefault(loader, []).append(best[0][at]['config'])

    def against_best(epoch: str) -> list[float]:
        of = {label: values for label, values in rates.items() if label.endswith(epoch)}
        ours = next(values for label, values in of.items() if label.startswith(OURS))
        best = max((values for label, values in of.items() if not label.startswith(OURS)), key=statistics.median)
        return [statistics.median(ours) / statistics.median(best)]
    terms = (f'{PHOTOS:,} photos × 100 KB, random-resized crop to 224 with antialias, flip, u8, batches of {BATCH}; {DELAY_MS} ms to '
             'the first byte, no cap, by the proxy, which shares the 2 cores with nginx; for each loader and epoch the fastest of its '
             f"ways by the median ({', '.join(f'{loader} {len(ways)}' for loader, (_, ways) in WAYS.items())})")
    said = {loader: ' / '.join(dict.fromkeys(of)) for loader, of in configs.items()}
    return [{'name': 'loaders-rate', 'title': 'photos for training', 'unit': 'images/s', 'terms': terms, 'samples': rates,
             'configs': said, 'failures': failures, 'labels': {loader: LABELS.get(loader, loader) for loader in WAYS},
             'targets': [(f'recpack / fastest peer, {epoch}', 'at least', 1.0, against_best(epoch)) for epoch in EPOCHS]},
            {'name': 'loaders-cpu', 'title': 'CPU time, decoding included', 'unit': 'CPU-s/GB',
             'terms': 'of the same runs; the process and its workers', 'samples': costs, 'targets': []}]
