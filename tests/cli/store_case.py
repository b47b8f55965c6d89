"""Test cases whose folder is served as an object store."""
from object_server import ObjectServer
from support import CliTest


class StoreCase(CliTest):
    def serve(self, **options):
        """Serves the folder; self.env is then the environment of a client."""
        server = ObjectServer(self.folder, **options)
        self.addCleanup(server.close)
        self.env = {'RECPACK_CACHE': str(self.folder / 'cache'), **server.environment()}
        return server

    def contents(self, folder):
        """The files directly in a folder, by name."""
        return {path.name: path.read_bytes() for path in (self.folder / folder).iterdir() if path.is_file()}
