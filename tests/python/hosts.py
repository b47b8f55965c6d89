"""Hosts of a cluster as network namespaces of this machine: each has an address, and processes that can be killed at once.

Needs root and `ip` (Debian: iproute2).
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

_BRIDGE, _NETWORK = 'recpack0', '10.213.77'
GATEWAY = f'{_NETWORK}.1'  # this process's own address for the hosts


def available() -> str:
    """Returns why there can be no hosts; empty if there can."""
    if shutil.which('ip') is None:
        return 'no `ip`: apt install iproute2'
    done = subprocess.run(['ip', 'netns', 'add', 'recpack-try'], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f'no network namespaces: {done.stderr.strip()}'
    _ip('netns', 'del', 'recpack-try')
    return ''


def _ip(*words, check: bool = True) -> str:
    return subprocess.run(['ip', *map(str, words)], capture_output=True, text=True, check=check).stdout


class Network:
    """A bridge that hosts are plugged into, as a context."""

    def __enter__(self):
        _ip('link', 'del', _BRIDGE, check=False)  # of a run that was killed
        _ip('link', 'add', _BRIDGE, 'type', 'bridge')
        _ip('addr', 'add', f'{GATEWAY}/24', 'dev', _BRIDGE)
        _ip('link', 'set', _BRIDGE, 'up')
        self.hosts: list[Host] = []
        return self

    def add(self) -> 'Host':
        """Returns a new host, which has an address that no other had."""
        host = Host(len(self.hosts))
        self.hosts.append(host)
        return host

    def __exit__(self, *_):
        for host in self.hosts:
            host.remove()
        _ip('link', 'del', _BRIDGE, check=False)


class Host:
    def __init__(self, number: int):
        self.name, self.address = f'recpack-{number}', f'{_NETWORK}.{number + 10}'
        self._cable = f'recpack0-{number}'
        self.remove()  # of a run that was killed
        _ip('netns', 'add', self.name)
        _ip('link', 'add', self._cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', self.name)
        _ip('link', 'set', self._cable, 'master', _BRIDGE, 'up')
        for words in (('addr', 'add', f'{self.address}/24', 'dev', 'eth0'), ('link', 'set', 'eth0', 'up'), ('link', 'set', 'lo', 'up')):
            _ip('-n', self.name, *words)

    def start(self, command: list, **options) -> subprocess.Popen:
        return subprocess.Popen(['ip', 'netns', 'exec', self.name, *map(str, command)], start_new_session=True, **options)

    def processes(self) -> list[int]:
        return [int(line) for line in _ip('netns', 'pids', self.name, check=False).split()]

    def signal(self, number: int) -> None:
        """Sends a signal to all of its processes."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def plug(self, on: bool) -> None:
        """Pulls out its network cable, or plugs it in again."""
        _ip('link', 'set', self._cable, 'up' if on else 'down', check=False)

    def remove(self) -> None:
        """Ends it as a machine that loses its power."""
        if pathlib.Path('/run/netns', self.name).exists():
            while self.processes():  # until none is left that starts others
                self.signal(signal.SIGKILL)
            _ip('netns', 'del', self.name, check=False)
        _ip('link', 'del', self._cable, check=False)


class Here:
    """What a Network is where there can be none: processes of this machine, without cables."""

    address = 'localhost'

    def __enter__(self):
        self.hosts: list[Here] = []
        self._started: list[subprocess.Popen] = []
        return self

    def add(self) -> 'Here':
        host = Here()
        self.hosts.append(host.__enter__())
        return host

    def __exit__(self, *_):
        for host in self.hosts:
            host.remove()

    def start(self, command: list, **options) -> subprocess.Popen:
        self._started.append(subprocess.Popen(list(map(str, command)), start_new_session=True, **options))
        return self._started[-1]

    def processes(self) -> list[int]:
        found = [process.pid for process in self._started if process.poll() is None]
        for process in found:  # grows; torchrun gives its ranks sessions of their own
            done = subprocess.run(['pgrep', '-P', str(process)], capture_output=True, text=True, check=False)
            found += map(int, done.stdout.split())
        return found

    signal = Host.signal

    def remove(self) -> None:
        self.signal(signal.SIGKILL)  # parents first, which would start others
        for process in self._started:
            process.wait()


def network():
    """A Network, or what there can be on this machine."""
    return Here() if available() else Network()
