"""Logs a report of recprobe to an experiment tracker, by the tracker's own package.

    python log_report.py TRACKER WHERE FOLDER

TRACKER is wandb, mlflow, tensorboard or otlp; WHERE (may be empty) the project, experiment, folder or URL; FOLDER has
report.json and report.html. Prints one line that says where it went. Exits with 3 where the package is missing. An
empty FOLDER only asks whether the package is there.
"""
import datetime
import importlib.util
import json
import os
import sys

PREFIX = 'recprobe/'


class Report:
    """What is logged of a report: scalars, texts, and the share of waits for input over the steps."""

    def __init__(self, folder):
        with open(os.path.join(folder, 'report.json'), encoding='utf-8') as file:
            read = json.load(file)
        self.page = os.path.join(folder, 'report.html')
        self.version = read['recprobe']
        self.job, self.verdict = read['job'], read['verdict']
        self.steps = read.get('steps') or []
        begin = datetime.datetime.fromisoformat(self.job['begin'].replace('Z', '+00:00'))
        self.begin = begin.timestamp()
        self.rank = self.job.get('rank') if (self.job.get('world_size') or 1) > 1 else None
        self.name = self.job.get('name') or 'training'
        self.title = f'recprobe {self.name}' + ('' if self.rank is None else f', rank {self.rank}')

    @property
    def end(self):
        return self.begin + (self.job.get('seconds') or 0)

    def scalars(self):
        """Returns values by name; what is not known is left out."""
        found = {}
        for figure in ('input_share', 'gain'):
            estimate = self.verdict.get(figure) or {}
            for part, suffix in (('value', ''), ('low', '_low'), ('high', '_high')):
                if estimate.get(part) is not None:
                    found[figure + suffix] = estimate[part]
        for figure in ('steps_per_s', 'steps'):
            if self.verdict.get(figure) is not None:
                found[figure] = self.verdict[figure]
        for part, share in (self.verdict.get('beside') or {}).items():
            found['beside/' + part] = share
        for part, share in (self.verdict.get('breakdown') or {}).items():
            found['breakdown/' + part] = share
        for cause in self.verdict.get('causes') or []:
            if cause.get('saves') is not None:
                found['saves/' + cause['cause'].replace(':', '').replace(' ', '_')] = cause['saves']
        return found

    def texts(self):
        """Returns the verdict, its cause and the one action, as far as there are any."""
        action = self.verdict.get('action') or {}
        texts = {'verdict': self.verdict.get('verdict'), 'bottleneck': self.verdict.get('bottleneck'),
                 'action': action.get('text'), 'where': action.get('where')}
        return {name: text for name, text in texts.items() if text}

    def waits(self):
        """Yields (step, time since 1970 in seconds, share of waits for input) of the trainer with the most steps."""
        if not self.steps:
            return
        longest = max(self.steps, key=lambda trainer: sum(trainer['count']))
        step = 0
        columns = (longest[name] for name in ('end_s', 'count', 'step_s', 'input_wait_s'))
        for end, count, length, wait in zip(*columns):
            step += count
            if length and wait is not None:
                yield step, self.begin + end, wait / length

    def tags(self):
        tags = {'recprobe': self.version, 'job': self.name, **self.texts()}
        for name in ('host', 'rank', 'world_size', 'launch'):
            if self.job.get(name) is not None:
                tags[name] = str(self.job[name])
        return tags


def to_wandb(report, project):
    import wandb

    # The training's own run, where the environment names it.
    run = wandb.init(project=project or None, id=os.environ.get('WANDB_RUN_ID'), resume='allow',
                     name=None if 'WANDB_RUN_ID' in os.environ else report.title, job_type='recprobe')
    run.define_metric(PREFIX + 'step')
    run.define_metric(PREFIX + 'input_wait_share', step_metric=PREFIX + 'step')
    for step, _, share in report.waits():
        run.log({PREFIX + 'step': step, PREFIX + 'input_wait_share': share})
    for name, value in {**report.scalars(), **report.tags()}.items():
        run.summary[PREFIX + name] = value
    artifact = wandb.Artifact(f'recprobe-{run.id}', 'recprobe-report')
    artifact.add_file(report.page)
    run.log_artifact(artifact)
    where = run.url or f'{run.dir} (offline: wandb sync)'
    run.finish()
    return where


def to_mlflow(report, experiment):
    import mlflow
    from mlflow.entities import Metric

    client = mlflow.MlflowClient()
    own = os.environ.get('MLFLOW_RUN_ID')  # the training's own run
    if own is None:
        name = experiment or os.environ.get('MLFLOW_EXPERIMENT_NAME', 'Default')
        found = client.get_experiment_by_name(name)
        number = found.experiment_id if found else client.create_experiment(name)
        run = client.create_run(number, start_time=round(1000 * report.begin), run_name=report.title)
        own = run.info.run_id
    metrics = [Metric(PREFIX + name, value, round(1000 * report.end), 0) for name, value in report.scalars().items()]
    metrics += [Metric(PREFIX + 'input_wait_share', share, round(1000 * time), step)
                for step, time, share in report.waits()]
    for begin in range(0, len(metrics), 500):
        client.log_batch(own, metrics=metrics[begin:begin + 500])
    for name, text in report.tags().items():
        client.set_tag(own, 'recprobe.' + name, text)
    client.log_artifact(own, report.page, 'recprobe')
    if 'MLFLOW_RUN_ID' not in os.environ:
        client.set_terminated(own, end_time=round(1000 * report.end))
    return f'run {own} at {mlflow.get_tracking_uri()}'


def to_tensorboard(report, folder):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    folder = folder or os.path.join('runs', 'recprobe')
    if report.rank is not None:
        folder = os.path.join(folder, f'rank{report.rank}')
    writer = EventFileWriter(folder, filename_suffix='.recprobe')

    def add(time, step, value):
        writer.add_event(Event(wall_time=time, step=step, summary=Summary(value=[value])))

    for step, time, share in report.waits():
        add(time, step, Summary.Value(tag=PREFIX + 'input_wait_share', simple_value=share))
    for name, value in report.scalars().items():
        add(report.end, 0, Summary.Value(tag=PREFIX + name, simple_value=value))
    plugin = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name='text'))
    for name, text in report.tags().items():
        one = TensorProto(dtype='DT_STRING', string_val=[text.encode()],
                          tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]))
        add(report.end, 0, Summary.Value(tag=PREFIX + name + '/text_summary', metadata=plugin, tensor=one))
    writer.close()
    return folder


def to_otlp(report, url):
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult
    from opentelemetry.sdk.resources import Resource

    # Without a URL the variables OTEL_EXPORTER_OTLP_… count.
    exporter = OTLPMetricExporter(endpoint=url.rstrip('/') + '/v1/metrics' if url else None)
    job = {'service.name': os.environ.get('OTEL_SERVICE_NAME', report.name), 'service.version': report.version}
    for name, text in report.tags().items():
        job['host.name' if name == 'host' else 'recprobe.' + name] = text
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], Resource.create(job))
    meter = provider.get_meter('recprobe', report.version)
    for name, value in report.scalars().items():
        meter.create_gauge('recprobe.' + name.replace('/', '.')).set(value)
    if exporter.export(reader.get_metrics_data()) is not MetricExportResult.SUCCESS:
        raise ConnectionError('the collector did not take the metrics')
    provider.shutdown()
    return url or os.environ.get('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT') or os.environ.get(
        'OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318')


PACKAGES = {'otlp': 'opentelemetry.exporter.otlp.proto.http.metric_exporter'}
TRACKERS = {'wandb': to_wandb, 'mlflow': to_mlflow, 'tensorboard': to_tensorboard, 'otlp': to_otlp}


def main():
    tracker, where, folder = sys.argv[1:4]
    try:
        if not folder:
            sys.exit(0 if importlib.util.find_spec(PACKAGES.get(tracker, tracker)) else 3)
        print(f'logged to {tracker}: {TRACKERS[tracker](Report(folder), where)}', file=sys.stderr)
    except ImportError as error:
        print(f'{sys.executable}: {error}', file=sys.stderr)
        sys.exit(3)
    except Exception as error:  # whatever the package raises: one line, not its frames
        print(f'{tracker}: {type(error).__name__}: {error}', file=sys.stderr)
        sys.exit(1)


if __name__ == '__main__':
    main()
