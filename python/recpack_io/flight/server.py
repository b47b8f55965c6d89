"""Server of a loader's batches."""
from __future__ import annotations

import hashlib
import hmac
import json
import pathlib
import pickle
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow.flight as flight

from recpack_io import __version__, loading
from recpack_io.errors import InvalidArgumentError, UnsupportedError
from recpack_io.feeding.loading import refuse_bfloat16
from recpack_io.feeding.makers import Maker
from recpack_io.fields import Field, recipe as field_list
from recpack_io.flight import places, unfinished, wire
from recpack_io.reading import opened

if TYPE_CHECKING:
    from recpack_io.mixtures import Mixture
    from recpack_io.reading import Dataset, Path
    from recpack_io.views import View

# Options of a loader that the client decides; all others are the server's.
OF_CLIENT = ('batch_size', 'seed', 'order', 'last_batch')
_BETWEEN_LOOKS = 5.0  # seconds


class _Token(flight.ServerMiddlewareFactory):
    """Refuses calls without the token."""

    def __init__(self, token: str):
        self._expected = f'Bearer {token}'.encode()

    def start_call(self, info: Any, headers: Mapping[str, Sequence[Any]]) -> None:
        for given in headers.get('authorization', ()):
            if hmac.compare_digest(given if isinstance(given, bytes) else given.encode(), self._expected):
                return
        raise flight.FlightUnauthenticatedError('the token is missing or wrong')


def _digest(fields: Sequence[Field] | None) -> str:
    """Returns what differs between fields of different kinds or settings, as far as they can be pickled."""
    digest = hashlib.sha256()
    for field in fields or ():
        try:
            digest.update(pickle.dumps(field))
        except Exception:  # a function of a program's own, such as a lambda
            digest.update(type(field).__qualname__.encode())
    return digest.hexdigest()[:16]


class _Session:
    """A client's maker. Thread-safe."""

    def __init__(self, maker: Maker):
        self.maker, self.lock = maker, threading.Lock()
        self.last_use = time.monotonic()


class Server(flight.FlightServerBase):
    """Makes batches of one data set and one recipe, for any number of clients.

    Each recpack_io.flight.Loader chooses batch size, seed, order and ranks. A client that asks for nothing for `idle`
    seconds is forgotten; if it comes back, it begins again where it was. It runs until shutdown().

    Args:
        dataset, recipe, fields: As of recpack_io.Loader.
        url: Where to listen: grpc://HOST:PORT, or grpc+tls://HOST:PORT with a certificate. Port 0: any that is free.
        token: That clients must have. Default: $RECPACK_FLIGHT_TOKEN. Needed where others can reach the address.
        certificate, key: PEM files, for TLS.
        insecure: Allow an address that others can reach without TLS or a token.
        idle: Seconds after which a client is forgotten.
        options: Of each client's loader: threads, prefetch, cache, workers and the like.

    Raises:
        InvalidArgumentError: If the address is open to the network without TLS and token.
        UnsupportedError: For arrays of bfloat16, substitutes for bad records, and counts of the audit.
    """

    def __init__(self, dataset: Dataset | View | Mixture | Path, recipe: str | None = None, *,
                 fields: Sequence[Field] | None = None, url: str = f'grpc://127.0.0.1:{places.PORT}', token: str = '',
                 certificate: str = '', key: str = '', insecure: bool = False, idle: float = 900.0, **options: Any):
        token = places.token_of(token)
        places.refuse_open(url, token, insecure)
        if bool(certificate) != bool(key) or bool(key) != url.startswith('grpc+tls'):
            raise InvalidArgumentError('grpc+tls:// needs a certificate and its key, and grpc:// neither')
        if wrong := [name for name in options if name in (*OF_CLIENT, 'rank', 'world_size', 'share', 'epochs')]:
            raise InvalidArgumentError(f'{wrong[0]} is chosen by the client: leave it out here')
        if options.get('on_bad_record', 'fail') != 'fail' or options.get('audit_counts'):
            raise UnsupportedError('substitutes for bad records and counts of the audit are not for served batches')
        dataset = opened(dataset, options.pop('split', ''))
        probe = loading.Loader(dataset, recipe, fields=fields, batch_size=1, rank=0, world_size=1, **options)
        refuse_bfloat16(probe.arrays)
        self._arrays = probe._core.arrays()
        probe.close()
        listed = field_list(recipe) if recipe else fields
        self._about = json.dumps({'version': __version__, 'samples': len(dataset), 'fields': _digest(listed)}).encode()
        self._finish: dict[str, dict[str, Any]] = {}  # by name of image
        if listed and not options.get('batch_functions'):  # which take whole images
            left, self._finish = unfinished.left(listed)
            recipe, fields = (None, left) if self._finish else (recipe, fields)
        self._of_loader = dataset, recipe, {'fields': fields, **options}
        self._sessions: dict[str, _Session] = {}
        self._lock = threading.Lock()  # of _sessions
        self._idle, self._over = idle, threading.Event()
        self._scheme, self._host, _ = places.parse(url)
        places.refuse_taken(url)
        middleware = {'token': _Token(token)} if token else {}
        pairs = [tuple(pathlib.Path(path).read_bytes() for path in (certificate, key))] if key else []
        super().__init__(places.location(url), middleware=middleware, tls_certificates=pairs or None)
        threading.Thread(target=self._forget, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return places.join(self._scheme, self._host, self.port)

    def shutdown(self) -> None:
        """Ends the server, and the loaders of all clients."""
        self._over.set()
        super().shutdown()
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            with session.lock:
                session.maker.close()

    def _forget(self) -> None:
        while not self._over.wait(min(_BETWEEN_LOOKS, self._idle / 2)):
            with self._lock:
                old = [name for name, each in self._sessions.items()
                       if time.monotonic() - each.last_use > self._idle and not each.lock.locked()]
                sessions = [self._sessions.pop(name) for name in old]
            for session in sessions:
                with session.lock:
                    session.maker.close()

    def _session(self, name: str) -> _Session:
        with self._lock:
            if name not in self._sessions:
                raise flight.FlightUnavailableError('the server does not know this client any more')
            return self._sessions[name]

    def do_action(self, context: Any, action: flight.Action) -> list[bytes]:
        """Answers "describe", "begin" and "end"; see docs/reference/flight.md.

        Args:
            context: Of the call.
            action: Its name and body.
        """
        if action.type == 'describe':
            return [self._about]
        asked = json.loads(action.body.to_pybytes())
        if action.type == 'begin':
            return [self._begin(asked)]
        if action.type == 'end':
            with self._lock:
                session = self._sessions.pop(asked['session'], None)
            if session is not None:
                with session.lock:
                    session.maker.close()
            return []
        raise flight.FlightServerError(f'no action {action.type!r}')

    def _begin(self, asked: dict[str, Any]) -> bytes:
        dataset, recipe, options = self._of_loader
        chosen = {name: asked['options'][name] for name in OF_CLIENT if name in asked['options']}
        session = _Session(Maker(dataset, recipe, {**options, **chosen}))
        with self._lock:
            before = self._sessions.pop(asked['session'], None)
            self._sessions[asked['session']] = session
        if before is not None:
            with before.lock:
                before.maker.close()
        try:
            with session.lock:
                begun = session.maker.begin(asked['rank'], asked['world_size'], asked['token'], asked['epoch'])
        except Exception as error:
            raise wire.to_flight_error(error) from None
        return wire.begun_text(replace(begun, arrays=self._arrays), self._finish)

    def do_get(self, context: Any, ticket: flight.Ticket) -> flight.RecordBatchStream:
        """Makes the batch that the ticket names.

        Args:
            context: Of the call.
            ticket: Session, epoch and number of the batch.
        """
        asked = json.loads(ticket.ticket)
        session = self._session(asked['session'])
        try:
            with session.lock:
                made = session.maker.make(asked['epoch'], asked['batch'])
        except Exception as error:
            raise wire.to_flight_error(error) from None
        finally:
            session.last_use = time.monotonic()
        return wire.to_stream(made)
