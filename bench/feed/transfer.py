"""A batch that is handed over again and again by Arrow Flight: what the transport alone costs.

    python bench/feed/transfer.py MB SECONDS      prints {"gb_per_second", "sender_core_seconds_per_gb", "receiver_..."}
"""
import json
import multiprocessing
import resource
import sys
import time

import numpy as np
import pyarrow.flight
from recpack_io.feeding.made import Made
from recpack_io.flight import wire
from recpack_io.flight.unfinished import Finishers


def core_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def serve(megabytes, port):
    array = np.random.default_rng(1).integers(0, 256, int(megabytes * 1e6), np.uint8)
    made = Made({'image': array}, np.zeros(1, np.uint64), np.ones(1, np.uint8), np.zeros(1, np.uint32), '', '')

    class Server(pyarrow.flight.FlightServerBase):
        def do_get(self, context, ticket):
            return wire.to_stream(made)

        def do_action(self, context, action):
            return [str(core_seconds()).encode()]
    server = Server('grpc://127.0.0.1:0')
    port.send(server.port)
    server.serve()


def main():
    megabytes, seconds = map(float, sys.argv[1:])
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context('spawn').Process(target=serve, args=(megabytes, theirs), daemon=True)
    process.start()
    client = pyarrow.flight.FlightClient(f'grpc://127.0.0.1:{ours.recv()}')

    def take():
        return wire.to_made(client.do_get(pyarrow.flight.Ticket(b'')), Finishers({}))

    def of_sender():
        return float(next(iter(client.do_action(pyarrow.flight.Action('', b'')))).body.to_pybytes())
    for _ in range(5):
        take()
    begin, mine, theirs, taken = time.monotonic(), core_seconds(), of_sender(), 0
    while time.monotonic() - begin < seconds:
        taken += take().arrays['image'].nbytes
    gb = taken / 1e9
    print(json.dumps({'gb_per_second': round(gb / (time.monotonic() - begin), 3),
                      'sender_core_seconds_per_gb': round((of_sender() - theirs) / gb, 3),
                      'receiver_core_seconds_per_gb': round((core_seconds() - mine) / gb, 3)}), flush=True)
    process.kill()


if __name__ == '__main__':
    main()
