"""The rows of bench/results/remote.json: reading from an object store, each figure by a function."""
import json
import shutil
import subprocess
import time

from harness import store_loader_rows
from harness.entrants import OURS, PEER, REFERENCE, ROOT, Setting, python_of
from harness.remote_stand import BUCKET, Proxy, client, served

GB = 1e9
PEERS = 'obstore', 's3torchconnector', 's3fs'
ORDERS = 'sequential', 'window', 'global'
MS = 100
CAP = 50e6


class Bench:
    """Runs programs against the store at `port`."""

    def __init__(self, setting: Setting, port: int):
        self.setting, self.port = setting, port
        self.folder = setting.work / 'remote' / BUCKET

    def size(self, name: str) -> int:
        return sum(path.stat().st_size for path in (self.folder / name).glob('*.tfrecord'))

    def forget(self) -> None:
        shutil.rmtree(self.setting.work / 'cache', ignore_errors=True)

    def run(self, words: list[str], port: int | None = None, **env) -> list[dict]:
        done = subprocess.run(words, env=client(self.setting, port or self.port, **env), capture_output=True,
                              text=True, timeout=600, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{words[:3]}: {done.stderr.strip()[-300:]}')
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]

    def epochs(self, data: str, order: str, rounds: int, port: int | None = None, local: bool = False,
               recipe: str = 'labels', batch: int = 64, **env) -> list[dict]:
        """A line for each epoch of one process of our loader."""
        at = str(self.folder / data) if local else f's3://{BUCKET}/{data}'
        return self.run([str(self.setting.build / 'bench' / 'loader' / 'loader_bench'), 'epochs', at, '--recipe',
                         recipe, '--batch', str(batch), '--order', order, '--rounds', str(rounds)], port, **env)

    def proxy(self, **flags) -> Proxy:
        return Proxy(self.setting, self.port, **flags)


def cost(bench: Bench) -> dict:
    """CPU seconds per GB and MB/s: ours in each order, and peers, which deliver bytes and check none."""
    found = {}
    size = bench.size('photos')
    for order in ORDERS:
        row = bench.epochs('photos', order, 2)[1]
        found[f'recpack, {order}'] = row['cpu_seconds'] / size * GB, size / row['seconds'] / 1e6
    objects = [f'photos/{p.name}:{p.stat().st_size}' for p in sorted((bench.folder / 'photos').glob('*.tfrecord'))]
    for peer in PEERS:
        row = bench.run([python_of(bench.setting, 'remote'), str(ROOT / 'bench/peers/peer_remote.py'), peer, BUCKET,
                         *objects])[0]
        found[f"{peer} {row['version']}"] = row['cpu_seconds'] / size * GB, size / row['seconds'] / 1e6
    return found


def cpu_rows(bench: Bench, rounds: int) -> list[dict]:
    samples = [cost(bench) for _ in range(rounds)]
    terms = ('1.07 GB in 17 shards, 10,240 × 100 KB, warm, 2 cores; nginx by sendfile on loopback, which takes its share of '
             'them; ours: an epoch, the second of a process, records parsed to labels, CRC-32C; peers: requests of '
             '8 MiB, imports not counted, bytes neither parsed nor checked')

    def row(name, title, unit, part, targets):
        entrants = {label: [sample[label][part] for sample in samples] for label in samples[0]}
        return {'name': name, 'title': title, 'unit': unit, 'terms': terms, 'samples': entrants, 'targets': targets}

    def against(peer):
        label = next(each for each in samples[0] if each.startswith(peer))
        return [sample['recpack, sequential'][0] / sample[label][0] for sample in samples]
    return [row('cpu', 'CPU time', 'CPU-s/GB', 0,
                [*((f'recpack, {order}', 'at most', 0.6) for order in ORDERS),
                 ('sequential / obstore', 'at most', 1.0, against('obstore')),
                 ('sequential / s3torchconnector', 'at most', 1.0, against('s3torchconnector'))]),
            row('rate', 'rate', 'MB/s', 1, [])]


def capped(bench: Bench, rounds: int) -> list[dict]:
    """Share of the cap, over three epochs, the wait for the first batch included."""
    size, samples = bench.size('few'), {order: [] for order in ORDERS}
    for _ in range(rounds):
        for order, found in samples.items():
            with bench.proxy(delay_ms=MS, rate=CAP) as proxy:
                rows = bench.epochs('few', order, 3, proxy.port)
            found.append(size * len(rows) / sum(row['seconds'] for row in rows) / CAP)
    return [{'name': 'cap', 'title': f'share of a link of 50 MB/s, {MS} ms to the first byte', 'unit': 'share',
             'terms': '535 MB, 5,120 × 100 KB; three epochs of a process, the wait for the first batch included', 'samples': samples,
             'targets': [(order, 'at least', 0.97) for order in ORDERS]}]


def delayed(bench: Bench, rounds: int) -> list[dict]:
    samples = {order: [] for order in ORDERS}
    for _ in range(rounds):
        for order, found in samples.items():
            seconds = []
            for delay in 0, MS:
                with bench.proxy(delay_ms=delay) as proxy:
                    seconds.append(bench.epochs('photos', order, 2, proxy.port)[1]['seconds'])
            found.append(seconds[0] / seconds[1])
    return [{'name': 'delay', 'title': f'rate at {MS} ms to the first byte, as a share of that at 0 ms', 'unit': 'share',
             'terms': '1.07 GB, no cap; both through the proxy, which shares the 2 cores; second epoch of a process',
             'samples': samples, 'targets': [(order, 'at least', 0.9) for order in ORDERS]}]


def first_batch(bench: Bench, rounds: int) -> list[dict]:
    samples = {order: [] for order in ORDERS}
    program = str(bench.setting.build / 'bench' / 'loader' / 'loader_bench')
    for _ in range(rounds):
        for order, found in samples.items():
            seconds = []
            for delay in 0, MS:
                bench.forget()
                with bench.proxy(delay_ms=delay) as proxy:
                    began = time.perf_counter()
                    bench.run([program, 'first', f's3://{BUCKET}/photos', '--recipe', 'labels', '--batch', '64',
                               '--order', order], proxy.port)
                    seconds.append(time.perf_counter() - began)
            found.append((seconds[1] - seconds[0]) / MS * 1000)
    return [{'name': 'first-batch', 'title': 'first batch, in round trips', 'unit': 'round trips', 'samples': samples,
             'terms': f'a process until its first batch of 64 × 100 KB, at {MS} ms less that at 0 ms; nothing in the '
                      'cache folder', 'targets': [(order, 'at most', 5) for order in ORDERS]}]


def fetched(bench: Bench, rounds: int) -> list[dict]:
    """Bytes of three epochs of a process, the index and the manifest among them."""
    size, samples, heads = bench.size('photos'), {order: [] for order in ORDERS}, []
    for _ in range(rounds):
        for order, found in samples.items():
            with bench.proxy() as proxy:
                bench.epochs('photos', order, 3, proxy.port)
                counts = proxy.counts()
            found.append(counts['body_bytes'] / 3 / size)
            heads.append(counts['methods'].get('HEAD', 0))
    return [{'name': 'bytes', 'title': 'bytes fetched for an epoch, as a share of the data', 'unit': 'share',
             'terms': '1.07 GB; three epochs of a loader that is told so, with manifest and index', 'samples': samples,
             'targets': [(order, 'at most', 1.005) for order in ORDERS]},
            {'name': 'heads', 'title': 'HEAD requests', 'unit': 'requests', 'terms': 'three epochs',
             'samples': {'all orders': heads}, 'targets': [('all orders', 'at most', 0)]}]


def memory(bench: Bench, rounds: int) -> list[dict]:
    samples = {order: [] for order in ORDERS}
    for _ in range(rounds):
        for order, found in samples.items():
            far, near = (bench.epochs('photos', order, 2, local=local)[1]['peak_mb'] for local in (False, True))
            found.append(far - near)
    return [{'name': 'memory', 'title': 'memory beyond that of local reading', 'unit': 'MB', 'samples': samples,
             'terms': '1.07 GB; resident at the peak of two epochs; local files are mapped; the aim is 64 MiB and what the link '
                      'carries in its delay, here none', 'targets': [(order, 'at most', 67) for order in ORDERS]}]


def stalled(bench: Bench, rounds: int) -> list[dict]:
    """Waits for a batch with 1 % of the requests held up by 5 s, against those without."""
    samples, waits = {'window': [], 'global': []}, {}
    for number in range(rounds):
        for order, found in samples.items():
            p99 = []
            for share in 0, 0.01:
                with bench.proxy(delay_ms=20, rate=100e6, stalled=share, stall_s=5, seed=number) as proxy:
                    p99.append(bench.epochs('photos', order, 2, proxy.port, batch=16)[1]['wait_p99'])
                waits.setdefault(f'{order}, {share:.0%} stalled', []).append(p99[-1] * 1e3)
            found.append(p99[1] / p99[0])
    return [{'name': 'stalls', 'title': '99th percentile of the wait for a batch, 1 % of the requests stalled by 5 s, '
                                        'against none', 'unit': 'ratio', 'samples': samples,
             'terms': '1.07 GB, 640 batches of 16; 20 ms to the first byte, 100 MB/s',
             'targets': [(order, 'at most', 2) for order in samples]},
            {'name': 'stalls-waits', 'title': '99th percentile of the wait for a batch', 'unit': 'ms', 'samples': waits,
             'terms': 'of the same runs', 'targets': []}]


def cached(bench: Bench, rounds: int) -> list[dict]:
    """The second epoch of a warm disk cache beside local files; hits of a cache that is too small."""
    rates = {'photos decoded (imagenet-train)': [], 'labels alone': []}
    hits = {'global': [], 'window': []}
    size = bench.size('few')
    for _ in range(rounds):
        bench.forget()
        bench.epochs('few', 'window', 1, RECPACK_CACHE_BYTES='4GB')
        for label, recipe in zip(rates, ('imagenet-train', 'labels')):
            far, near = (bench.epochs('few', 'window', 2, local=local, recipe=recipe,
                                      RECPACK_CACHE_BYTES='4GB')[1]['seconds'] for local in (False, True))
            rates[label].append(near / far)
        for order, found in hits.items():
            bench.forget()
            took = []
            for _ in range(3):  # processes, so that nothing comes from the memory of the epoch before
                with bench.proxy() as proxy:
                    bench.epochs('few', order, 1, proxy.port, RECPACK_CACHE_BYTES=str(size // 5))
                    took.append(proxy.counts()['body_bytes'])
            found.append(1 - sum(took[1:]) / (2 * size))
    bench.forget()
    return [{'name': 'cache-rate', 'title': 'rate from the disk cache, as a share of that of local files',
             'unit': 'share', 'terms': '535 MB, window order, page cache warm; second epoch of a process, all in the cache',
             'samples': rates, 'targets': [('photos decoded (imagenet-train)', 'at least', 0.95)]},
            {'name': 'cache-hits', 'title': 'hits of a cache of 20 % of the data, second and third epoch',
             'unit': 'share', 'terms': '535 MB; by bytes; each epoch by a process of its own', 'samples': hits,
             'targets': [(order, 'at least', 0.15) for order in hits]}]


GROUPS = [cpu_rows, capped, delayed, first_batch, fetched, memory, stalled, cached, store_loader_rows.loaders]
ROLES = {'recpack': OURS, 'local': REFERENCE,
         **dict.fromkeys((name.split(' ')[0] for name in (*PEERS, *store_loader_rows.LABELS.values())), PEER)}


def opened(setting: Setting):
    return served(setting, setting.work / 'remote')
