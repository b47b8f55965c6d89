"""An object store on this machine: nginx serves files, and a proxy plays the network before it."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import time

from harness.entrants import Setting, Unavailable

BUCKET = 'bucket'

NGINX = """worker_processes 1;
daemon off;
pid {at}/nginx.pid;
error_log {at}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; sendfile_max_chunk 512k; tcp_nopush on; keepalive_requests 1000000;
  default_type application/octet-stream;
  client_body_temp_path {at}/1; proxy_temp_path {at}/2; fastcgi_temp_path {at}/3; uwsgi_temp_path {at}/4;
  scgi_temp_path {at}/5;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def nginx_of(setting: Setting) -> str:
    program = setting.venvs / 'remote' / 'server' / 'usr' / 'sbin' / 'nginx'
    if not program.exists():
        raise Unavailable('no nginx: bash bench/peers/setup.sh remote')
    return str(program)


@contextlib.contextmanager
def served(setting: Setting, root: pathlib.Path):
    """Serves the folders of `root` as buckets; yields the port."""
    at, port = setting.work / 'nginx', _free_port()
    at.mkdir(parents=True, exist_ok=True)
    os.chmod(at, 0o777)  # its worker is another user
    (at / 'nginx.conf').write_text(NGINX.format(at=at, port=port, root=root), encoding='utf-8')
    with subprocess.Popen([nginx_of(setting), '-c', str(at / 'nginx.conf')], stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
                    break
                time.sleep(0.05)
            yield port
        finally:
            server.terminate()


class Proxy:
    """A fault_proxy before the server at `port`, as a context; `flags` as its command line has them."""

    def __init__(self, setting: Setting, port: int, **flags):
        program = os.environ.get('FAULT_PROXY', setting.build / 'tests' / 'bench' / 'fault_proxy')
        self.command = [str(program), str(port)]
        for name, value in flags.items():
            self.command += [f'--{name.replace("_", "-")}', str(value)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())['port']
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def counts(self) -> dict:
        """Requests by method, faults by kind, and bytes of bodies, so far."""
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def client(setting: Setting, port: int, **more) -> dict:
    """The environment of a client of the store at `port`; its cache folder is setting.work/cache."""
    return setting.environment() | {
        'AWS_ACCESS_KEY_ID': 'bench', 'AWS_SECRET_ACCESS_KEY': 'bench', 'AWS_REGION': 'us-east-1',
        'AWS_ENDPOINT_URL': f'http://127.0.0.1:{port}', 'RECPACK_CACHE': str(setting.work / 'cache'),
        'AWS_EC2_METADATA_DISABLED': 'true', **more}
