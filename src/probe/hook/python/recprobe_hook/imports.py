"""Calls of a function of ours after the program has imported a module."""
import sys


class Finder:
    """The first of sys.meta_path: finds as the others do, and has the patch run afterwards."""

    def __init__(self, patches, tell):
        self.patches = patches
        self.tell = tell

    def find_spec(self, name, path=None, target=None):
        if name not in self.patches:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, 'find_spec', None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                self.arm(spec.loader, name)
                return spec
        return None

    def arm(self, loader, name):
        """The loader stays the same object: what asks it for sources or data still can."""
        try:
            execute = loader.exec_module

            def exec_module(module):
                loader.__dict__.pop('exec_module', None)
                execute(module)
                self.patch(name, module)

            loader.exec_module = exec_module
        except Exception as error:
            self.tell('%s is not hooked: its loader cannot be watched (%r)' % (name, error))

    def patch(self, name, module):
        try:
            self.patches[name](module)
        except Exception as error:
            self.tell('%s is not hooked: %r' % (name, error))


def _by_name(package, ours):
    def patch(module):
        import importlib
        importlib.import_module(package + '.' + ours).patch(module)
    return patch


def start(package, targets, tell):
    finder = Finder({name: _by_name(package, ours) for name, ours in targets.items()}, tell)
    sys.meta_path.insert(0, finder)
    for name in targets:  # a .pth file may have imported it before us
        if name in sys.modules:
            finder.patch(name, sys.modules[name])
