#!/usr/bin/env python3
r"""Kills, stops, slows and cuts off servers of batches, and compares each batch with the local loader's.

    PYTHONPATH=build/python/site .venvs/ray/bin/python bench/feed_faults.py \
        --faults 120 --seed N --out bench/results/feed-faults.json

Three servers of CIFAR-10-sized pictures, each behind a proxy that can stall or cut its connections. A fault comes every few
batches, drawn from the seed; a killed server is started again some time later. Takes about fifteen minutes, mostly waits.
"""
import hashlib
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import recpack_io
import recpack_io.flight

from harness import fault_bench

SERVERS, RECORDS, BATCH = 3, 3000, 20
KINDS = ('killed', 'killed, back later', 'stopped', 'stopped for a second', 'connections cut', 'connections stalled', 'slow')
MOST_WAIT = 60.0  # seconds for a batch; longer is a hang


class Proxy:
    """Carries bytes between clients and a server that may be replaced."""

    def __init__(self, port: int):
        self._to, self._pairs = port, []
        self.pause, self.stalled = 0.0, threading.Event()
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            try:
                server = socket.create_connection(('127.0.0.1', self._to))
            except OSError:
                client.close()
                continue
            self._pairs.append((client, server))
            for source, target in (client, server), (server, client):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                while self.stalled.is_set():
                    time.sleep(0.05)
                time.sleep(self.pause)
                target.sendall(data)
        except OSError:
            pass
        for each in source, target:
            each.close()

    def cut(self) -> None:
        """Ends all connections."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for each in pair:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


class Place:
    """A server behind a proxy."""

    def __init__(self, shards: pathlib.Path):
        with socket.socket() as one:
            one.bind(('127.0.0.1', 0))
            self._port = one.getsockname()[1]
        self._shards = shards
        self.proxy = Proxy(self._port)
        self.start()

    @property
    def url(self) -> str:
        return f'grpc://127.0.0.1:{self.proxy.port}'

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, '-B', '-m', 'recpack_io.flight', 'serve', str(self._shards), '--recipe', 'cifar10-train',
             '--threads', '1', '--url', f'grpc://127.0.0.1:{self._port}'], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def suffer(self, kind: str, chance: random.Random) -> threading.Thread:
        """Begins a fault; the thread that is returned ends it."""
        seconds = chance.uniform(0.2, 4)

        def later() -> None:
            if kind.startswith('killed'):
                self.end()
                time.sleep(seconds if 'later' in kind else 0)
                self.start()
            elif kind.startswith('stopped'):
                self.process.send_signal(signal.SIGSTOP)
                time.sleep(1 if 'second' in kind else 15)
                self.process.send_signal(signal.SIGCONT)
            elif kind == 'connections cut':
                self.proxy.cut()
            elif kind == 'connections stalled':
                self.proxy.stalled.set()
                time.sleep(15)
                self.proxy.cut()
                self.proxy.stalled.clear()
            else:
                self.proxy.pause = 0.05
                time.sleep(seconds)
                self.proxy.pause = 0.0
        thread = threading.Thread(target=later)
        thread.start()
        return thread


def digest(batch: recpack_io.Batch) -> str:
    sums = hashlib.sha256()
    for name, array in batch.items():
        sums.update(f'{name} {array.dtype} {array.shape}'.encode() + array.tobytes())
    sums.update(batch.ids.tobytes() + batch.token.encode())
    return sums.hexdigest()


def run(faults: int, seed: int, work: pathlib.Path) -> dict:
    rng = np.random.default_rng(1)
    with recpack_io.Writer(work / 'shards') as writer:
        for _ in range(RECORDS):
            writer.write({'image': rng.integers(0, 256, 3072, np.uint8).tobytes(), 'label': int(rng.integers(10))})
    dataset = recpack_io.open(work / 'shards')
    chance = random.Random(seed)
    places = [Place(work / 'shards') for _ in range(SERVERS)]
    busy: dict[int, threading.Thread] = {}
    counts = dict.fromkeys(KINDS, 0)
    options = {'batch_size': BATCH, 'last_batch': 'keep', 'seed': seed}
    local = recpack_io.Loader(dataset, 'cifar10-train', **options)
    served = recpack_io.flight.Loader([place.url for place in places], max_restarts=10, timeout=120, **options)
    other, epochs, incomplete, waits = 0, 0, 0, []
    try:
        while sum(counts.values()) < faults:
            batches = iter(served)
            for batch in local:
                number = chance.randrange(SERVERS)
                if chance.random() < 0.1 and sum(counts.values()) < faults and not (
                        number in busy and busy[number].is_alive()):
                    kind = chance.choice(KINDS)
                    counts[kind] += 1
                    busy[number] = places[number].suffer(kind, chance)
                begin = time.monotonic()
                given = next(batches)
                waits.append(time.monotonic() - begin)
                other += digest(given) != digest(batch)
            other += next(batches, None) is not None
            incomplete += not served.audit().check(dataset).complete
            epochs += 1
            print(f'epoch {epochs}: {sum(counts.values())} faults, {other} other batches, longest wait {max(waits):.1f} s',
                  flush=True)
    finally:
        for thread in busy.values():
            thread.join()
        for place in places:
            place.end()
    return {'faults': counts, 'epochs': epochs, 'batches': len(waits), 'other_batches': other,
            'incomplete_epochs': incomplete, 'replaced': served.stats()['replaced'],
            'longest_wait_seconds': round(max(waits), 2), 'hangs': sum(wait > MOST_WAIT for wait in waits)}


if __name__ == '__main__':
    fault_bench.main(__doc__, 120, run, servers=SERVERS)
