"""A package `mlflow` that writes down what it is given, in the file that $TOLD names."""

PACKAGE = '''
import json, os
def get_tracking_uri(): return os.environ["MLFLOW_TRACKING_URI"]
class Found: experiment_id = "7"
class Run:
    class info: run_id = "run1"
class MlflowClient:
    def _tell(self, *words):
        with open(os.environ["TOLD"], "a") as file: file.write(json.dumps(words) + "\\n")
    def get_experiment_by_name(self, name): self._tell("experiment", name); return None if name == "new" else Found
    def create_experiment(self, name): self._tell("create", name); return "8"
    def create_run(self, number, start_time, run_name): self._tell("run", number, run_name); return Run
    def log_batch(self, run, metrics): self._tell("metrics", run, [[m.key, m.value, m.step] for m in metrics])
    def set_tag(self, run, name, value): self._tell("tag", name, value)
    def log_artifact(self, run, path, folder):
        if os.environ.get("FULL"): raise OSError("no room for artifacts")
        self._tell("artifact", os.path.basename(path), folder)
    def set_terminated(self, run, end_time): self._tell("end", run)
'''
ENTITIES = '''
class Metric:
    def __init__(self, key, value, timestamp, step): self.key, self.value, self.step = key, value, step
'''


def write_fake_mlflow(packages):
    """Writes it into a folder of packages."""
    (packages / 'mlflow').mkdir(parents=True)
    (packages / 'mlflow/__init__.py').write_text(PACKAGE)
    (packages / 'mlflow/entities.py').write_text(ENTITIES)
