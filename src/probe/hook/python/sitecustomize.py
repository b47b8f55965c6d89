"""Python imports this when it starts: it hooks the input of trainings and gives way to the
sitecustomize that it hides."""
import os
import sys


def _chain(folder):
    """Runs the sitecustomize that would have been run, as if this one were not there."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec('sitecustomize', [p for p in sys.path if p != folder])
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules['sitecustomize'] = module
    spec.loader.exec_module(module)  # what it raises is told by `site`, as ever


def _start():
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        import recprobe_hook
        recprobe_hook.start()
    except Exception:  # no fault of the program's
        pass
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or '.') != folder]
    _chain(folder)


_start()
