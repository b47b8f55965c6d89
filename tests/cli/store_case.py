"""Test cases whose folder is served as an object store."""
import os
import signal
import subprocess

from object_server import ObjectServer
from support import RECPACK, CliTest


class StoreCase(CliTest):
    def serve(self, **options):
        """Serves the folder; self.env is then the environment of a client."""
        server = ObjectServer(self.folder, **options)
        self.addCleanup(server.close)
        self.env = {'RECPACK_CACHE': str(self.folder / 'cache'), **server.environment()}
        return server

    def is_killed(self, *words, within):
        """Runs recpack, kills it if it takes longer than that [s], and says whether it did."""
        running = subprocess.Popen([RECPACK, *words], env={**os.environ, **self.env}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        try:
            running.wait(within)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
        _, errors = running.communicate()
        if running.returncode != -signal.SIGKILL:
            self.assertEqual((running.returncode, errors), (0, ''))
        return running.returncode == -signal.SIGKILL

    def contents(self, folder):
        """The files directly in a folder, by name."""
        return {path.name: path.read_bytes() for path in (self.folder / folder).iterdir() if path.is_file()}
