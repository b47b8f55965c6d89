"""Addresses of servers, and what may be sent there."""
from __future__ import annotations

import errno
import ipaddress
import os
import socket
import urllib.parse

from recpack_io.errors import InvalidArgumentError

TOKEN_VARIABLE = 'RECPACK_FLIGHT_TOKEN'  # noqa: S105
PORT = 8815
_SCHEMES = ('grpc', 'grpc+tls')


def parse(url: str) -> tuple[str, str, int]:
    """Returns scheme, host and port of a server's URL: grpc://HOST[:PORT] or grpc+tls://HOST[:PORT]."""
    parts = urllib.parse.urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in _SCHEMES or not parts.hostname or port == -1 or parts.path.strip('/'):
        raise InvalidArgumentError(f'{url!r} names no server: give grpc://HOST:PORT, or grpc+tls://HOST:PORT')
    return parts.scheme, parts.hostname, PORT if port is None else port


def join(scheme: str, host: str, port: int) -> str:
    """Returns the URL whose parts parse() returns."""
    return f'{scheme}://{f"[{host}]" if ":" in host else host}:{port}'


def location(url: str) -> str:
    """Returns the URL with its port."""
    return join(*parse(url))


def is_local(host: str) -> bool:
    """Returns whether what is sent there stays on this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'


def token_of(given: str) -> str:
    """Returns the given token, or that of the environment."""
    return given or os.environ.get(TOKEN_VARIABLE, '')


def refuse_open(url: str, token: str, insecure: bool) -> None:
    """Refuses an address that others can reach, without TLS or a token.

    Raises:
        InvalidArgumentError: Which says what to give.
    """
    scheme, host, _ = parse(url)
    if insecure or is_local(host):
        return
    if scheme != 'grpc+tls':
        raise InvalidArgumentError(f'{url} is open to the network, without TLS: give grpc+tls:// and a certificate, or say '
                                   'that the network is safe (insecure)')
    if not token:
        raise InvalidArgumentError(f'{url} is open to the network, without a token: give one, or set {TOKEN_VARIABLE}')


def refuse_taken(url: str) -> None:
    """Refuses an address at which another program listens: gRPC would share it, and give each a part of the calls."""
    _, host, port = parse(url)
    if port == 0:
        return
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        with socket.socket(family, kind, protocol) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(address)
            except OSError as error:
                reason = 'another program listens there' if error.errno == errno.EADDRINUSE else error.strerror
                raise InvalidArgumentError(f'cannot listen at {url}: {reason}') from None
