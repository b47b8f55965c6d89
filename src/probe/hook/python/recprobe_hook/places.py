"""Says where in the program a thread is.

That is the innermost frame of the program's own code, what it calls, and the part of the input.

Own code is what lies neither in the standard library nor among installed packages.
"""
import os
import re
import sys

from .callee import callee_of
from .compiled import calls_compiled
from .text import line_of, lines_of

_LIBRARY = os.path.dirname(os.__file__)
_START = os.getcwd()  # file names may be relative to it; the program may go elsewhere
_GENERATOR = 0x20 | 0x200  # inspect.CO_GENERATOR, CO_ASYNC_GENERATOR
_TYPED = ('<stdin>', '<string>', '<ipython')  # code without a file that is the program's own
# Libraries wherever they are installed.
_LIBRARIES = {'recprobe_hook', 'recpack_io', 'torch', 'torchvision', 'tensorflow', 'keras', 'jax',
              'grain', 'numpy', 'PIL'}
# What calls a program's input code: module, and the part that the code called by it is.
_FETCH = 'torch.utils.data._utils.fetch'
_WORKER = 'torch.utils.data._utils.worker'
_COLLATE = 'torch.utils.data._utils.collate'
_CALLERS = {_WORKER: '__getitem__',
            'tensorflow.python.ops.script_ops': 'py_function',
            'tensorflow.python.data.ops.from_generator_op': 'generator',
            'recpack_io.calling': 'function', 'grain': 'transformation'}
_COMPOSED = ('torchvision.transforms', 'albumentations', 'kornia.augmentation', 'monai.transforms',
             'torchaudio.transforms', 'audiomentations')
_COMPOSES = ('Compose.', 'Sequential.', 'AugmentationSequential.')
# Base classes of transforms, whose methods call those of the transform itself.
_BASES = ('', 'Transform', 'BasicTransform', 'ImageOnlyTransform', 'DualTransform', 'Module')
_MODEL = ('torch.nn', 'torch.autograd', 'torch._tensor', 'torch.optim', 'torch._functorch',
          'torch._dynamo', 'torch._inductor', 'jax', 'jaxlib', 'keras', 'tensorflow')
# What writes and reads models: it calls the above, too.
_STORES = ('torch.serialization', 'torch.distributed.checkpoint', 'keras.src.saving',
           'keras.src.legacy.saving', 'tensorflow.python.checkpoint',
           'tensorflow.python.saved_model', 'tensorflow.python.training.saver', 'orbax',
           'safetensors')
# What calls the forward() of a module, the call() of a layer, or the backward() of a function.
_MODULES = {'torch.nn.modules.module', 'torch.autograd', 'torch.autograd.graph',
            'torch.autograd.function', 'keras.src.layers.layer', 'keras.src.ops.operation',
            'keras.src.engine.base_layer'}
# What calls a program's callbacks: they are no part of the model, whatever they run of it.
_CALLBACKS = ('keras.src.callbacks', 'tf_keras.src.callbacks', 'transformers.trainer_callback')
_CALLBACK_HOOKS = '_call_callback_hooks'  # Lightning's function
_WRAPPERS = ('wrapper', 'inner', 'decorate_context', 'error_handler', '<lambda>')  # of decorators
# Packages with which a worker waits for what it is to do.
_WAITING = ('multiprocessing', 'multiprocess', 'queue', 'threading', 'selectors')
_MOST = 4096  # code objects and lines that are remembered

USER, LIBRARY, FETCH, CALLER, COMPOSE, WAIT, IMPORT, HOOK, PROCESS = range(9)


class About:
    """What a code object is. `part`: of the input that it calls; `model`: whether it belongs to a
    model's work; `stores`: whether it writes or reads models; `calls_back`: whether it calls the
    program's callbacks."""
    __slots__ = ('kind', 'module', 'name', 'path', 'part', 'model', 'stores', 'calls_back')

    def __init__(self, kind, module, name, path, part=''):
        self.kind = kind
        self.module = module
        self.name = name
        self.path = path
        self.part = part
        self.model = _is_in(module, _MODEL)
        self.stores = _is_in(module, _STORES)
        self.calls_back = _is_in(module, _CALLBACKS) or name == _CALLBACK_HOOKS


class Place:
    """Where a thread is. `path` is empty if it is in no code that is known; `part`: of the input or
    of the loop (`__getitem__`, `transform RandomCrop`, `collate_fn`, ..., `model`); `made`: where
    the transform is created; `called`: whether an input library called the code; `native`: whether
    the innermost frame is at a call of native code."""
    __slots__ = ('part', 'path', 'line', 'function', 'calling', 'made', 'called', 'native')

    def __init__(self):
        self.part = self.path = self.function = self.calling = self.made = ''
        self.line = 0
        self.called = self.native = False


_abouts = {}
_made = {}


def _is_in(module, packages):
    return any(module == package or module.startswith(package + '.') for package in packages)


def is_program(path):
    if path.startswith('<'):
        return path.startswith(_TYPED)
    return not ('-packages' in path or path.startswith(_LIBRARY))


def absolute(path):
    return os.path.normpath(os.path.join(_START, path))


def _qualified(code, module):
    """Returns the name of a function with its class."""
    name = getattr(code, 'co_qualname', None)  # 3.11
    if name is not None:
        return name.replace('<locals>.', '')
    for owner in list(vars(sys.modules.get(module, sys)).values()):
        if isinstance(owner, type):
            function = owner.__dict__.get(code.co_name)
            if getattr(function, '__code__', None) is code:
                return '%s.%s' % (owner.__name__, code.co_name)
    return code.co_name


def _describe(frame):
    code = frame.f_code
    module = frame.f_globals.get('__name__') or ''
    name = _qualified(code, module)
    path = code.co_filename
    root = module.partition('.')[0]
    if root == 'recprobe_hook':
        return About(WAIT if code.co_name == 'timed_by_recprobe' else HOOK, module, name, path)
    if module == 'recpack_io.loading':
        return About(WAIT, module, name, path)
    if path.startswith('<frozen importlib'):
        return About(IMPORT, module, name, path)
    if root not in _LIBRARIES and is_program(path):
        if not path.startswith('<'):
            path = absolute(path)
        return About(USER, module, name, path)
    if module == 'multiprocessing.process':
        return About(PROCESS, module, name, path)
    if module == _FETCH:
        return About(FETCH, module, name, path)
    for caller, part in _CALLERS.items():
        if module == caller or module.startswith(caller + '.'):
            if name.startswith('BatchCaller.'):
                part = 'batch function'
            return About(CALLER, module, name, path, part)
    if _is_in(module, _COMPOSED) and name.startswith(_COMPOSES):
        return About(COMPOSE, module, name, path)
    return About(LIBRARY, module, name, path)


def about(frame):
    code = frame.f_code
    known = _abouts.get(code)
    if known is None:
        if len(_abouts) >= _MOST:
            _abouts.clear()
        known = _abouts[code] = _describe(frame)
    return known


def public_name(one):
    """`PIL.Image.resize` for the method `resize` of the class `Image` in the module `PIL.Image`."""
    module = '.'.join(part for part in one.module.split('.') if not part.startswith('_'))
    owner, _, method = one.name.rpartition('.')
    if method in ('__call__', 'forward', '__init__') and owner:
        return '%s.%s' % (module, owner)
    if owner and module.endswith('.' + owner):
        return '%s.%s' % (module, method)
    return '%s.%s' % (module, one.name)


def _is_private(one):
    name = one.name.rpartition('.')[2]
    return one.module in _MODULES or name in _WRAPPERS or \
        name.startswith('_') and not name.endswith('__')


def part_of_call(frame):
    """Returns which part of the input a frame of PyTorch's fetchers calls; '' for other frames."""
    if frame.f_globals.get('__name__') != _FETCH:
        return ''
    line = line_of(frame.f_code.co_filename, frame.f_lineno or 0)
    if 'collate_fn' in line:
        return 'collate_fn'
    return '__iter__' if 'dataset_iter' in line else '__getitem__'


def part_of_worker(frame):
    """Returns 'worker_init_fn' if a frame of a DataLoader's worker calls that; '' otherwise."""
    if frame.f_globals.get('__name__') != _WORKER:
        return ''
    line = line_of(frame.f_code.co_filename, frame.f_lineno or 0)
    return 'worker_init_fn' if 'init_fn(' in line else ''


def _class_of(frame, one):
    """Returns the transform whose method this is; the method may be its base class's."""
    owner = one.name.rpartition('.')[0].rpartition('.')[2]
    if owner in _BASES:
        try:
            return type(frame.f_locals['self']).__name__
        except Exception:
            return owner or one.name
    return owner


def _made_at(name):
    """Returns FILE:LINE of the program's first call of a class of this name; '' if none."""
    call = re.compile(r'(?<!class )(?<!def )\b%s\(' % re.escape(name))
    modules = [sys.modules.get('__main__')] + list(sys.modules.values())
    for module in modules:
        path = getattr(module, '__dict__', {}).get('__file__')
        if not isinstance(path, str) or not path.endswith('.py') or not is_program(path) or \
                str(vars(module).get('__name__')).partition('.')[0] in _LIBRARIES:
            continue
        for number, line in enumerate(lines_of(path), 1):
            if call.search(line):
                return '%s:%d' % (absolute(path), number)
    return ''


def made_at(name):
    if name not in _made:
        if len(_made) >= _MOST:
            _made.clear()
        _made[name] = _made_at(name)
    return _made[name]


def _generates(code):
    """Tells generators from expressions within a line: all(... for ...)."""
    return code.co_flags & _GENERATOR and code.co_name != '<genexpr>'


class _Walk:
    """Looks at a stack from the innermost frame outward. Must not outlive a sample."""

    def __init__(self):
        self.user = None  # the innermost frame of the program's own code
        self.library = None  # the outermost frame of a library within it, or at all
        self.member = None  # the frame of what a Compose calls
        self.transform = self.package = ''  # `torchvision.transforms.`
        self.part = ''
        self.called = self.waits = self.model = self.stores = self.generates = False

    def over(self, frame):
        """Returns whether frames further out matter no more."""
        one = about(frame)
        kind = one.kind
        if kind == USER:
            if self.user is None:
                self.user = frame
            if not self.called and _generates(frame.f_code):
                self.generates = True
            self.member = frame
        elif kind == COMPOSE:
            if self.member is not None:
                self._take_transform(about(self.member), one)
            self.member = frame
        elif kind == FETCH:
            self.called = True
            self.part = self.part or part_of_call(frame)
            if self.user is not None or self.library is not None:
                return True
        elif kind == CALLER:
            self.called = True
            self.part = self.part or part_of_worker(frame) or one.part
            return True
        elif kind == WAIT:
            if self.user is not None:  # the program's own code within the call for a batch
                self.called = True
                self.part = self.part or ('generator' if self.generates else 'input')
                return True
            self.waits = True
        elif kind == PROCESS:
            return True  # further out is what the process was forked from
        elif kind == IMPORT:
            if self.user is None:
                self.part = 'import'
        elif kind == LIBRARY:
            if one.calls_back and self.user is not None:
                self.model = False
                return True
            if one.module == _COLLATE:
                self.part = self.part or 'collate_fn'
            if self.user is None and not self.waits:
                if not _is_private(one):
                    self.library = frame
                self.model = self.model or one.model
                self.stores = self.stores or one.stores
            elif one.module in _MODULES:
                self.model = True
            if one.module not in _MODULES:
                self.member = frame
        return False

    def _take_transform(self, inner, compose):
        if inner.kind == USER:
            self.transform = inner.name.removesuffix('.__call__').removesuffix('.forward')
            return
        self.transform = _class_of(self.member, inner)
        self.package = next(p for p in _COMPOSED if _is_in(compose.module, (p,))) + '.'


def place_of(innermost):
    """Returns the Place of a thread with this innermost frame."""
    walk = _Walk()
    frame = innermost
    while frame is not None:
        if walk.over(frame):
            break
        frame = frame.f_back
    place = Place()
    place.called = walk.called
    place.native = callee_of(innermost) is not None
    if walk.transform:
        place.part = 'transform ' + walk.transform
        place.made = made_at(walk.transform.rpartition('.')[2])
    elif walk.called:
        place.part = walk.part
    elif walk.part == 'import':
        place.part = walk.part
    elif walk.waits:
        place.part = 'next batch'
    elif walk.generates:
        place.part = 'generator'
    elif walk.model and not walk.stores:
        place.part = 'model'
    if walk.user is not None:
        one = about(walk.user)
        place.path, place.line, place.function = one.path, walk.user.f_lineno or 0, one.name
        if walk.library is not None:
            place.calling = public_name(about(walk.library))
        elif walk.user is innermost:
            place.calling = callee_of(innermost) or ''
            if not place.part and calls_compiled(innermost, place.calling):
                place.part = 'model'
        if walk.transform and walk.library is not None:
            place.calling = walk.package + walk.transform
    elif walk.called and walk.library is not None and \
            not _is_in(about(walk.library).module, _WAITING):
        one = about(walk.library)
        place.path, place.line, place.function = one.path, walk.library.f_lineno or 0, one.name
        if walk.library is not innermost:
            place.calling = public_name(about(innermost))
    return place
