"""Makers of batches that are servers."""
from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

import pyarrow.flight as flight

from recpack_io import __version__
from recpack_io.errors import InvalidArgumentError
from recpack_io.feeding.made import Begun
from recpack_io.feeding.makers import LateError, LostError
from recpack_io.flight import places, unfinished, wire

_ADVICE = 'see what it printed, and start it again; a state of the loader continues from here'
_LATE = 'it answers, but makes no batch: raise `timeout` if its work takes so long'
_LOOK = 5.0  # seconds without a batch, after which a server is asked whether it is there
_BETWEEN_TRIES = 0.5  # seconds


class _Connection:
    """A client of one server, whose calls run one after the other on a thread of its own."""

    def __init__(self, url: str, options: Mapping[str, Any], headers: list[tuple[bytes, bytes]]):
        self.url, self._headers, self.session = url, headers, uuid.uuid4().hex
        self._client = flight.FlightClient(places.location(url), **options)
        self._finishers = unfinished.Finishers({})
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()  # a call to a stopped server never ends

    def _run(self) -> None:
        while job := self._jobs.get():
            future, call = job
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)
        with contextlib.suppress(Exception):
            self._client.close()

    def _call(self, call: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._jobs.put((future, call))
        return future

    def _options(self, seconds: float | None = None) -> flight.FlightCallOptions:
        return flight.FlightCallOptions(timeout=seconds, headers=self._headers)

    def _act(self, name: str, body: bytes, seconds: float | None) -> bytes:
        answers = self._client.do_action(flight.Action(name, body), self._options(seconds))
        return b''.join(answer.body.to_pybytes() for answer in answers)

    def describe(self, seconds: float) -> dict[str, Any]:
        """Asks for what is served, on the thread of the caller."""
        return json.loads(self._act('describe', b'', seconds))

    def begin(self, asked: Mapping[str, Any]) -> Future[Begun]:
        body = json.dumps({'session': self.session, **asked}).encode()

        def call() -> Begun:
            begun, finish = wire.to_begun(self._act('begin', body, None))
            self._finishers = unfinished.Finishers(finish)
            return begun
        return self._call(call)

    def make(self, epoch: int, batch: int) -> Future[Any]:
        ticket = flight.Ticket(json.dumps({'session': self.session, 'epoch': epoch, 'batch': batch}).encode())
        return self._call(lambda: wire.to_made(self._client.do_get(ticket, self._options()), self._finishers))

    def end(self, tell: bool) -> None:
        """Makes no more calls. `tell`: the server is there, and is told."""
        if tell:
            body = json.dumps({'session': self.session}).encode()
            self._call(lambda: self._act('end', body, _LOOK))
        self._jobs.put(None)


class Servers:
    """feeding.makers.Makers that are servers; one that is lost is replaced by itself, once it is back, or another.

    Args:
        urls: Of the servers.
        token: Sent to them; empty: none.
        tls_root_certs: PEM of the certificates that they are trusted by; empty: those of gRPC.
        options: Of the loader, of server.OF_CLIENT.
        timeout: Seconds that get() and replace() wait.
    """

    def __init__(self, urls: list[str], token: str, tls_root_certs: bytes, options: Mapping[str, Any], timeout: float):
        self.urls, self.count, self._timeout, self._loader_options = urls, len(urls), timeout, options
        self._options = {'tls_root_certs': tls_root_certs} if tls_root_certs else {}
        self._headers = [(b'authorization', f'Bearer {token}'.encode())] if token else []
        self.samples, self._fields = -1, ''
        try:
            self._connections = [self._connect(number) for number in range(self.count)]
        except LostError as error:
            raise error.for_program() from None

    def _trouble(self, connection: _Connection) -> str:
        """Asks a server what it serves; returns why it cannot be used now, or an empty text."""
        try:
            about = connection.describe(_LOOK)
        except (flight.FlightUnauthenticatedError, flight.FlightUnauthorizedError):
            raise InvalidArgumentError(f'{connection.url} refuses the token: give the server\'s, or set '
                                       f'{places.TOKEN_VARIABLE}') from None
        except (flight.FlightError, OSError) as error:
            return str(error).strip().partition('\n')[0]
        if about['version'] != __version__:
            raise InvalidArgumentError(f'{connection.url} has recpack_io {about["version"]}, and this is {__version__}: '
                                       'install the same on both sides')
        if self.samples not in (-1, about['samples']):
            raise InvalidArgumentError(f'{connection.url} serves {about["samples"]:,} samples, another server '
                                       f'{self.samples:,}: all must serve the same')
        if self._fields not in ('', about['fields']):
            raise InvalidArgumentError(f'{connection.url} serves other fields than another server: all must serve the same')
        self.samples, self._fields = about['samples'], about['fields']
        return ''

    def begin(self, number: int, rank: int, world_size: int, token: str, epoch: int) -> Any:
        return self._connections[number].begin({'rank': rank, 'world_size': world_size, 'token': token, 'epoch': epoch,
                                                'options': self._loader_options})

    def make(self, number: int, epoch: int, batch: int) -> Any:
        return self._connections[number].make(epoch, batch)

    def is_ready(self, asked: Future[Any]) -> bool:
        return asked.done()

    def get(self, number: int, asked: Future[Any]) -> Any:
        connection = self._connections[number]
        where = f'server {connection.url}'
        until = time.monotonic() + self._timeout
        while True:
            try:
                return asked.result(max(0.0, min(_LOOK, until - time.monotonic())))
            except FutureTimeoutError:
                if trouble := self._trouble(connection):
                    raise LostError(f'{where} does not answer: {trouble}', _ADVICE) from None
                if time.monotonic() >= until:
                    raise LateError(f'no batch came from {where} for {self._timeout:.0f} s', _LATE) from None
            except flight.FlightServerError as error:
                raise wire.from_flight_error(error, where) from None
            except (flight.FlightError, OSError, EOFError) as error:
                reason = str(error).strip().partition('\n')[0]
                raise LostError(f'{where} was lost: {reason}', _ADVICE) from None

    def replace(self, number: int) -> None:
        self._connections[number].end(tell=False)
        self._connections[number] = self._connect(number)

    def _connect(self, number: int) -> _Connection:
        """Connects to the server of this number, or if it does not answer to one of the others."""
        until = time.monotonic() + self._timeout
        while True:
            for i in range(self.count):
                connection = _Connection(self.urls[(number + i) % self.count], self._options, self._headers)
                trouble = self._trouble(connection)
                if not trouble:
                    return connection
                connection.end(tell=False)
            if time.monotonic() > until:
                raise LostError(f'none of the servers {", ".join(self.urls)} answers: {trouble}', _ADVICE)
            time.sleep(_BETWEEN_TRIES)

    def close(self) -> None:
        """Tells the servers that no more is wanted."""
        for connection in self._connections:
            connection.end(tell=True)
