"""Loader whose batches come from servers."""
from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recpack_io import loading
from recpack_io.arguments import checks_arguments
from recpack_io.batches import Batch
from recpack_io.errors import InvalidArgumentError
from recpack_io.feeding.loading import FedLoader, last_batch_of_makers
from recpack_io.flight import places
from recpack_io.flight.makers import Servers

if TYPE_CHECKING:
    from recpack_io.options import LastBatch, Order, Share


class Served:
    """What the servers of a loader serve."""

    _view = None  # stands where a View may stand

    def __init__(self, urls: Sequence[str], samples: int):
        self._urls, self._samples = urls, samples

    def __len__(self) -> int:
        """Returns the number of samples of an epoch."""
        return self._samples

    def __repr__(self) -> str:
        others = f' and {len(self._urls) - 1} more' if len(self._urls) > 1 else ''
        return f'<{self._samples:,} samples of {self._urls[0]}{others}>'


class Loader(FedLoader):
    """A recpack_io.Loader whose batches are made by servers (recpack_io.flight.Server).

    Batches, their order, states and audits are, bit for bit, those of a local loader of what the servers serve, and a
    state of one continues the other. Step s is made by server s modulo their number. The batches of a server that is
    lost are made again by itself, once it is back, or by another. Arrays are read-only, and lie where they were
    received; batch.dlpack(name) copies one.

    Args:
        servers: URLs: grpc://HOST:PORT, or grpc+tls://HOST:PORT. All must serve the same. One may come twice.
        batch_size, epochs, seed, rank, world_size, order, last_batch: As in recpack_io.Loader.
        share: With several ranks, "batches" is needed.
        ahead: Batches of each server that are made, or on their way, before they are asked for.
        max_restarts: How often a server is replaced that gives no batch in between.
        timeout: Seconds to wait for a batch, or for a server to come back, before an error says so.
        token: Of the servers. Default: $RECPACK_FLIGHT_TOKEN.
        tls_root_certs: PEM file of certificates that servers are trusted by; default: those that gRPC knows.
        insecure: Allow servers on other machines without TLS.
        batch_type: Type of batches; set by adapters.

    Raises:
        IoError: If no server answers, or one is lost again and again.
        InvalidArgumentError: If servers differ, or refuse the token.
    """

    _kind = 'servers'

    @checks_arguments()
    def __init__(self, servers: Sequence[str], *, batch_size: int = 256, epochs: int = 0, seed: int = 0,
                 rank: int | None = None, world_size: int | None = None, order: Order = 'auto', share: Share = 'samples',
                 last_batch: LastBatch = 'drop', ahead: int = 2, max_restarts: int = 3, timeout: float = 300,
                 token: str = '', tls_root_certs: str = '', insecure: bool = False,
                 batch_type: Callable[[Any], Any] = Batch):
        urls = [servers] if isinstance(servers, str) else list(servers)
        if not urls or ahead < 1:
            raise InvalidArgumentError('give one server or more, and ahead=1 or more')
        token = places.token_of(token)
        for url in urls:
            places.refuse_open(url, token or 'none is needed to ask', insecure)
        certificates = pathlib.Path(tls_root_certs).read_bytes() if tls_root_certs else b''
        options = {'batch_size': batch_size, 'seed': seed, 'order': loading.order_text(order), 'last_batch': last_batch_of_makers(last_batch)}
        self._makers = servers = Servers(urls, token, certificates, options, timeout)
        self._feeding = {'ahead': ahead, 'max_restarts': max_restarts}
        super().__init__(Served(urls, servers.samples), fields=[], batch_size=batch_size,  # type: ignore[arg-type]
                         epochs=epochs, seed=seed, rank=rank, world_size=world_size, order=order, share=share,
                         last_batch=last_batch, batch_type=batch_type)
