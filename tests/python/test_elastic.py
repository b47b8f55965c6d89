"""examples/python/elastic_torch.py on agents of torchrun that are killed and added: each sample once an epoch."""
import contextlib
import os
import signal
import subprocess
import sys
import time

from support import ROOT, InFolder, main, pack
from torch.distributed import TCPStore

EXAMPLE = ROOT / 'examples/python/elastic_torch.py'


class Elastic(InFolder):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ['RECPACK'], 'stand-in', self.folder / 'cifar', '--rows', '300'], check=True,
                       stdout=subprocess.DEVNULL)
        pack(self.folder / 'cifar', self.folder / 'shards')
        self.checkpoint = self.folder / 'checkpoint.pt'
        # The rendezvous is served here: not by an agent that dies.
        self.store = TCPStore('localhost', 0, is_master=True, wait_for_workers=False)

    def agent(self):
        """An agent with one rank, in a group of its own."""
        command = [sys.executable, '-m', 'torch.distributed.run', '--nnodes', '1:3', '--nproc-per-node', 1, '--max-restarts', 50,
                   '--rdzv-backend', 'c10d', '--rdzv-endpoint', f'localhost:{self.store.port}', '--rdzv-id', 'test',
                   '--rdzv-conf', 'is_host=0,last_call_timeout=1,join_timeout=120', EXAMPLE, self.folder / 'shards',
                   '--checkpoint', self.checkpoint, '--epochs', 3, '--global-batch', 24, '--save-every', 3,
                   '--step-seconds', 0.15]
        environment = os.environ | {'OMP_NUM_THREADS': '1', 'TORCH_DISABLE_SHARE_RDZV_TCP_STORE': '1'}
        agent = subprocess.Popen(list(map(str, command)), env=environment, cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.kill, agent)
        return agent

    def kill(self, agent):
        """The agent and its rank, which has a session of its own, as a machine that is lost."""
        ranks = subprocess.run(['pgrep', '-P', str(agent.pid)], capture_output=True, text=True).stdout.split()
        for process in (agent.pid, *map(int, ranks)):  # the agent first: it would start another rank
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        agent.wait()
        agent.stdout.close()

    def wait_for_checkpoint(self, newer_than=0):
        deadline = time.monotonic() + 120
        while not (self.checkpoint.exists() and self.checkpoint.stat().st_mtime_ns > newer_than):
            self.assertLess(time.monotonic(), deadline, 'no checkpoint came')
            time.sleep(0.05)
        return self.checkpoint.stat().st_mtime_ns

    def test_ranks_die_and_join(self):
        first, second = self.agent(), self.agent()
        then = self.wait_for_checkpoint(self.wait_for_checkpoint())
        self.kill(second)
        then = self.wait_for_checkpoint(self.wait_for_checkpoint(then))  # by the first alone
        self.agent()
        out = first.communicate(timeout=240)[0]
        lines = [line for line in out.splitlines() if line.startswith('epoch ')]
        self.assertEqual(first.returncode, 0, out)
        self.assertGreaterEqual({line.split(':')[0] for line in lines}, {'epoch 0', 'epoch 1', 'epoch 2'})
        for line in lines:
            self.assertIn('1200 of 1200 samples, each once: True', line)


if __name__ == '__main__':
    main()
