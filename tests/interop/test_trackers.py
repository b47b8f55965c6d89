"""Reports of recprobe in the trackers' own packages: wandb, MLflow, TensorBoard and OpenTelemetry, all of them local."""
import gzip
import http.server
import json
import os
import subprocess
import sys
import threading
import unittest

from steps_program import PROGRAM
from support import InFolder, ROOT, main

RECPROBE = os.environ.get('RECPROBE', str(ROOT / 'build/release/tools/recprobe/recprobe'))


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes what an OTLP exporter sends."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if self.headers.get('Content-Encoding') == 'gzip':
            body = gzip.decompress(body)
        self.server.taken.append((self.path, body))
        self.send_response(200)
        self.send_header('Content-Type', 'application/x-protobuf')
        self.end_headers()

    def log_message(self, *words):
        pass


class Trackers(InFolder):
    def setUp(self):
        super().setUp()
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(('WANDB_', 'MLFLOW_', 'OTEL_'))}
        self.environment['HOME'] = str(self.folder)  # packages keep settings and caches there

    def log(self, tracker, **environment):
        """Watches a program, logs its report, and returns (what was said, the report's verdict)."""
        done = subprocess.run([RECPROBE, 'run', '--job', 'steps', '--report', self.folder / 'report', '--log', tracker,
                               '--', sys.executable, '-c', PROGRAM], capture_output=True, text=True, check=False,
                              env={**self.environment, **environment}, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith('logged to ')]
        self.assertEqual(len(said), 1, done.stderr)
        return said[0], json.loads((self.folder / 'report/report.json').read_text())['verdict']

    def test_wandb(self):
        said, _ = self.log('wandb:inputs', WANDB_MODE='offline', WANDB_DIR=str(self.folder))
        self.assertIn('offline', said)
        run = next((self.folder / 'wandb').glob('offline-run-*/*.wandb')).read_bytes()
        for text in (b'inputs', b'recprobe/input_share', b'recprobe/input_wait_share', b'recprobe/verdict',
                     b'report.html', b'recprobe steps'):
            self.assertIn(text, run)

    def test_mlflow(self):
        import mlflow
        uri = (self.folder / 'store').as_uri()
        said, verdict = self.log('mlflow:inputs', MLFLOW_TRACKING_URI=uri, MLFLOW_ALLOW_FILE_STORE='true')
        os.environ['MLFLOW_ALLOW_FILE_STORE'] = 'true'
        client = mlflow.MlflowClient(uri)
        run = client.search_runs([client.get_experiment_by_name('inputs').experiment_id])[0]
        self.assertIn(run.info.run_id, said)
        self.assertEqual(run.info.status, 'FINISHED')
        self.assertEqual(run.info.run_name, 'recprobe steps')
        self.assertEqual(run.data.metrics['recprobe/input_share'], verdict['input_share']['value'])
        self.assertEqual(run.data.tags['recprobe.bottleneck'], verdict['bottleneck'])
        self.assertGreater(len(client.get_metric_history(run.info.run_id, 'recprobe/input_wait_share')), 1)
        self.assertEqual([file.path for file in client.list_artifacts(run.info.run_id, 'recprobe')],
                         ['recprobe/report.html'])

    def test_tensorboard(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        said, verdict = self.log('tensorboard:runs')
        self.assertTrue(said.endswith('runs'))
        read = EventAccumulator(str(self.folder / 'runs'))
        read.Reload()
        waits = read.Scalars('recprobe/input_wait_share')
        self.assertEqual(waits[-1].step, verdict['steps'] + verdict['left_out'])
        for figure, value in (('input_share', verdict['input_share']['value']), ('gain_low', verdict['gain']['low'])):
            self.assertAlmostEqual(read.Scalars('recprobe/' + figure)[0].value, value, places=5)
        self.assertEqual(read.Tensors('recprobe/verdict/text_summary')[0].tensor_proto.string_val[0].decode(),
                         verdict['verdict'])

    def test_otlp(self):
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Collector)
        server.taken = []
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _, verdict = self.log(f'otlp:http://127.0.0.1:{server.server_port}')
        (path, body), = server.taken
        self.assertEqual(path, '/v1/metrics')
        taken = ExportMetricsServiceRequest.FromString(body).resource_metrics[0]
        attributes = {each.key: each.value.string_value for each in taken.resource.attributes}
        self.assertEqual(attributes['service.name'], 'steps')
        self.assertEqual(attributes['recprobe.verdict'], verdict['verdict'])
        values = {metric.name: metric.gauge.data_points[0].as_double for metric in taken.scope_metrics[0].metrics}
        self.assertEqual(values['recprobe.input_share'], verdict['input_share']['value'])
        self.assertEqual(values['recprobe.breakdown.input_wait'], verdict['breakdown']['input_wait'])

    def test_a_collector_that_is_not_there(self):
        done = subprocess.run([RECPROBE, 'run', '--report', self.folder / 'report', '--log', 'otlp:http://127.0.0.1:9',
                               '--', sys.executable, '-c', PROGRAM], capture_output=True, text=True, check=False,
                              env={**self.environment, 'OTEL_EXPORTER_OTLP_TIMEOUT': '2'})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('the report was not logged to otlp', done.stderr)
        self.assertTrue((self.folder / 'report/report.html').exists())


if __name__ == '__main__':
    main()
