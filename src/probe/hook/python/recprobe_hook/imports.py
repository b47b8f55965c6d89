"""Calls a patch function after the program has imported a module."""
import sys


class Finder:
    """First finder in sys.meta_path: delegates to the others and patches after the import."""

    def __init__(self, patches, notice):
        self.patches = patches
        self.notice = notice

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
        """Patches the loader in place, so that it still provides sources and data."""
        try:
            execute = loader.exec_module

            def exec_module(module):
                loader.__dict__.pop('exec_module', None)
                execute(module)
                self.patch(name, module)

            loader.exec_module = exec_module
        except Exception as error:
            self.notice('%s is not hooked: its loader cannot be patched (%r)' % (name, error))

    def patch(self, name, module):
        try:
            self.patches[name](module)
        except Exception as error:
            self.notice('%s is not hooked: %r' % (name, error))


def _by_name(package, name):
    def patch(module):
        import importlib
        importlib.import_module(package + '.' + name).patch(module)
    return patch


def start(package, targets, notice):
    patches = {target: _by_name(package, name) for target, name in targets.items()}
    finder = Finder(patches, notice)
    sys.meta_path.insert(0, finder)
    for name in targets:  # a .pth file may have imported it earlier
        if name in sys.modules:
            finder.patch(name, sys.modules[name])
