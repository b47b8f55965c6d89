"""The rows of bench/results/remote.json that compare loaders of photos, each as its own experts would run it."""
from harness.entrants import ROOT, python_of
from harness.remote_stand import BUCKET

SCRIPT = str(ROOT / 'bench' / 'peers' / 'peer_store_loader.py')
SITE = str(ROOT / 'build' / 'python' / 'site')  # tests/python/environments.sh makes it
DATA = 'few'
DELAY_MS = 20
OURS = 'recpack'
# Its environment, and the flags of those ways to run it of which the fastest counts.
WAYS = {
    OURS: ('vision', [['--workers', '2']]),
    'webdataset': ('remote', [['--workers', '2'], ['--workers', '4']]),
    'mds': ('streams', [['--workers', '2'], ['--workers', '4']]),
    'litdata': ('streams', [['--workers', '2'], ['--workers', '4'], ['--workers', '2', '--variant', '0'],
                            ['--workers', '2', '--variant', 'auto']]),
    'lance': ('remote', [['--workers', '2'], ['--workers', '4']]),
    's3torchconnector': ('remote', [['--workers', '2'], ['--workers', '8'], ['--workers', '16']])}
LABELS = {'webdataset': 'WebDataset over s3fs', 'mds': 'MosaicML Streaming', 'litdata': 'LitData', 'lance': 'Lance'}
EPOCHS = 'cold', 'warm'
TRIES = 3


def prepare(bench, loader: str) -> str:
    """What the loader reads, made once. Returns its key."""
    key = DATA if loader == OURS else f'{DATA}-{loader}'
    out = bench.folder / key
    if not out.exists():
        part = out.with_name(key + '.part')
        bench.run([python_of(bench.setting, WAYS[loader][0]), SCRIPT, 'write', loader,
                   str(bench.setting.work / 'remote-files' / DATA), str(part)])
        part.rename(out)
    names = bench.setting.work / f'{key}.names'
    names.write_text('\n'.join(sorted(str(p.relative_to(out)) for p in out.rglob('*') if p.is_file())), encoding='utf-8')
    return key


def epochs_of(bench, loader: str, flags: list[str], port: int) -> list[dict]:
    key = prepare(bench, loader)
    more = {'PYTHONPATH': SITE} if loader == OURS else {}
    words = [python_of(bench.setting, WAYS[loader][0]), SCRIPT, 'read', loader, f's3://{BUCKET}/{key}', '--names',
             str(bench.setting.work / f'{key}.names'), '--cache', str(bench.setting.work / 'cache'), *flags]
    return bench.run(words, port, **more)


def tried_again(bench, loader: str, flags: list[str], port: int, failures: list[str]) -> list[dict]:
    """An error of a peer's own is noted, and it gets two more runs."""
    for _ in range(TRIES - 1):
        try:
            return epochs_of(bench, loader, flags, port)
        except RuntimeError as error:
            if loader == OURS:
                raise
            failures.append(f'{loader}: {str(error).splitlines()[-1]}')
    return epochs_of(bench, loader, flags, port)


def fastest(bench, loader: str, port: int, failures: list[str]) -> list[str]:
    """By the sum of both epochs."""
    ways = WAYS[loader][1]
    if len(ways) == 1:
        return ways[0]
    return min(ways, key=lambda flags: sum(row['seconds'] for row in tried_again(bench, loader, flags, port, failures)))


def at_delay(bench, rounds: int, delay: int) -> list[dict]:
    rates, costs, configs, failures = {}, {}, {}, []
    gigabytes = bench.size(DATA) / 1e9
    with bench.proxy(delay_ms=delay) as proxy:
        chosen = {loader: fastest(bench, loader, proxy.port, failures) for loader in WAYS}
        for _ in range(rounds):
            for loader, flags in chosen.items():
                for name, row in zip(EPOCHS, tried_again(bench, loader, flags, proxy.port, failures)):
                    label = f"{LABELS.get(loader, loader)} {row['version']}, {name}"
                    rates.setdefault(label, []).append(row['images'] / row['seconds'])
                    costs.setdefault(label, []).append(row['cpu_seconds'] / gigabytes)
                    configs[loader] = row['config']
    bench.forget()
    terms = (f'535 MB, 5,120 photos × 100 KB, random-resized crop to 224, flip, u8, batches of 128; {delay} ms to the first '
             'byte, no cap, by the proxy, which shares the 2 cores with nginx; cold: the first epoch with an empty cache folder, '
             'the making of loader and workers included; warm: the second of the process, from the cache that the loader keeps '
             'by default or by its usual setting (recpack, Lance and s3torchconnector: none); '
             + '; '.join(f'{loader}: {config}' for loader, config in configs.items())
             + ''.join(f'; a run that failed and was repeated: {failure}' for failure in failures)
             + '; tf.data is not here: TensorFlow 2.21 has no s3:// and no http://')

    def against_best(epoch: str) -> list[float]:
        of = {label: values for label, values in rates.items() if label.endswith(epoch)}
        ours = next(values for label, values in of.items() if label.startswith(OURS))
        best = max((values for label, values in of.items() if not label.startswith(OURS)), key=lambda v: sorted(v)[len(v) // 2])
        return [mine / theirs for mine, theirs in zip(ours, best)]
    where = f'{delay} ms to the first byte' if delay else 'no delay'
    return [{'name': f'loaders-{delay}ms', 'title': f'photos for training, {where}', 'unit': 'images/s', 'terms': terms,
             'samples': rates, 'targets': [(f'recpack / fastest peer, {epoch}', 'at least', 1.0, against_best(epoch))
                                           for epoch in EPOCHS]},
            {'name': f'loaders-cpu-{delay}ms', 'title': f'CPU time of the same, decoding included, {where}', 'unit': 'CPU-s/GB',
             'terms': 'of the same runs; the process and its workers', 'samples': costs, 'targets': []}]


def loaders(bench, rounds: int) -> list[dict]:
    return [row for delay in (0, DELAY_MS) for row in at_delay(bench, rounds, delay)]
