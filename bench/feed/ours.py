"""Photos from our loader: in this process, from a server of this machine, or from an actor of Ray.

    python bench/feed/ours.py local|flight|ray SHARDS TYPE BATCH SECONDS       prints {"images", "seconds", "config"}
"""
import json
import multiprocessing
import sys
import time

import numpy as np
import recpack_io


def fields(kind):
    return recpack_io.recipe('imagenet-train', type=kind)


def serve(shards, kind, url):
    import recpack_io.flight
    server = recpack_io.flight.Server(recpack_io.open(shards), fields=fields(kind), url='grpc://127.0.0.1:0')
    url.send(server.url)
    server.serve()


def served(shards, kind, batch):
    import recpack_io.flight
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.get_context('spawn').Process(target=serve, args=(shards, kind, theirs), daemon=True).start()
    return recpack_io.flight.Loader([ours.recv()], batch_size=batch), 'one server with all threads, ahead 2'


def on_ray(shards, kind, batch):
    import recpack_io.ray
    import ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level='ERROR')
    return recpack_io.ray.Loader(recpack_io.open(shards), fields=fields(kind), actors=1, cpus_per_actor=2,
                                 batch_size=batch), 'one actor with 2 CPUs, ahead 2'


def local(shards, kind, batch):
    return recpack_io.Loader(recpack_io.open(shards), fields=fields(kind), batch_size=batch), 'all threads, prefetch 4'


def batches(loader):
    while True:
        yield from loader


def main():
    how, shards, kind, batch, seconds = sys.argv[1:]
    loader, config = {'local': local, 'flight': served, 'ray': on_ray}[how](shards, kind, int(batch))
    endless = batches(loader)
    for _ in range(6):  # all that is made ahead, and the start
        next(endless)
    begin, images = time.monotonic(), 0
    while time.monotonic() - begin < float(seconds):
        given = next(endless)
        images += len(given)
        assert np.asarray(given['image']).shape[0] == len(given)
    print(json.dumps({'images': images, 'seconds': time.monotonic() - begin, 'config': config}), flush=True)
    loader.close()


if __name__ == '__main__':
    main()
