"""Runs examples/python/elastic_torch.py under torchrun's elastic agents, each on a host of its own."""
import os
import pathlib
import re
import sys
import time

from hosts import GATEWAY, Here
from torch.distributed import TCPStore

_EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / 'examples/python/elastic_torch.py'
_EPOCH = re.compile(r'^epoch (\d+): (.*)$', re.M)


class Agent:
    """A torchrun with one rank, on a new host."""

    def __init__(self, number: int, host, command: list, folder: pathlib.Path):
        self.number, self.host, self._log = number, host, folder / f'agent-{number}.log'
        paths = os.pathsep.join(map(os.path.abspath, os.environ.get('PYTHONPATH', '').split(os.pathsep)))
        environment = os.environ | {'PYTHONPATH': paths, 'OMP_NUM_THREADS': '1', 'TORCH_DISABLE_SHARE_RDZV_TCP_STORE': '1',
                                    'GLOO_SOCKET_IFNAME': 'lo' if isinstance(host, Here) else 'eth0'}
        with self._log.open('w', encoding='utf-8') as log:
            self.process = host.start([*command, '--timeout', 8], env=environment, cwd=folder, stdout=log, stderr=log)

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def ranks(self) -> list[int]:
        """Processes of the host without the agent."""
        return [process for process in self.host.processes() if process != self.process.pid]

    def log(self) -> str:
        return self._log.read_text(encoding='utf-8', errors='replace')

    def kill(self) -> None:
        self.host.remove()
        self.process.wait()


class Job:
    """One training. `network`: of hosts.network()."""

    def __init__(self, network, shards: pathlib.Path, folder: pathlib.Path, epochs: int, step_seconds: float):
        self.agents: list[Agent] = []
        self._network, self._folder = network, folder
        self._here = isinstance(network, Here)
        self._starts = 0
        self.checkpoint = folder / 'checkpoint.pt'
        # The rendezvous is served by this process: not by an agent that dies.
        self._store = TCPStore('localhost' if self._here else GATEWAY, 0, is_master=True, wait_for_workers=False)
        self._program = [_EXAMPLE, shards, '--checkpoint', self.checkpoint, '--epochs', epochs, '--global-batch', 24,
                         '--save-every', 3, '--step-seconds', step_seconds]

    def add(self) -> Agent:
        host = self._network.add()
        rendezvous = 'is_host=0,last_call_timeout=1,join_timeout=60,read_timeout=10,keep_alive_interval=1,keep_alive_max_attempt=3'
        command = [sys.executable, '-m', 'torch.distributed.run', '--nnodes', '1:3', '--nproc-per-node', 1, '--max-restarts', 1000,
                   '--monitor-interval', 0.3, '--local-addr', host.address, '--rdzv-backend', 'c10d',
                   '--rdzv-endpoint', f"{'localhost' if self._here else GATEWAY}:{self._store.port}", '--rdzv-id', f'job-{self._starts}',
                   '--rdzv-conf', rendezvous, *self._program]
        self.agents.append(Agent(len(self.agents), host, command, self._folder))
        return self.agents[-1]

    def ended(self) -> bool:
        """Whether an agent saw the end of the training."""
        return any(agent.process.poll() == 0 for agent in self.agents)

    def start_again(self) -> None:
        """Starts two hosts, as a scheduler does with a job that has lost all of them."""
        self._starts += 1  # the rendezvous of the others may be closed
        for _ in range(2):
            self.add()

    def running(self) -> list[Agent]:
        return [agent for agent in self.agents if agent.runs]

    def saved(self) -> int:
        """When the last checkpoint was written; 0 if there is none."""
        return self.checkpoint.stat().st_mtime_ns if self.checkpoint.exists() else 0

    def wait_for_checkpoint(self, newer_than: int = 0, seconds: float = 120) -> bool:
        """Waits for one, or for the end of all agents; returns whether it came in time."""
        deadline = time.monotonic() + seconds
        while self.saved() <= newer_than and self.running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def epochs(self) -> list[tuple[int, str]]:
        """What the ranks said at the ends of epochs."""
        return [(int(number), said) for agent in self.agents for number, said in _EPOCH.findall(agent.log())]
