"""Hooks PyTorch's DataLoader, torchdata's StatefulDataLoader and the steps of optimizers."""
import sys
from importlib.util import find_spec

from . import events
from .steps import marks
from .settings import note_loader, note_made
from .threads import trainer
from .wrap import How, noting, replace, time_method


def patch(module):
    if module.__name__ == 'torch.optim.optimizer':
        _watch_optimizers(module)
        return
    torch = sys.modules['torch']
    gradients = torch.is_grad_enabled
    batches = How(events.DATA_LOADER, lambda iterator: getattr(iterator, '_dataset', None),
                  gradients)

    def dataset_of(loader):
        if gradients():  # an evaluation records none
            note_loader(loader)
        return getattr(loader, 'dataset', None)

    start = How(events.START, dataset_of, gradients, batch=False)
    for name, item in list(vars(module).items()):
        if not isinstance(item, type) or item.__module__ != module.__name__:
            continue
        if name.endswith('DataLoaderIter'):
            time_method(item, '__next__', batches)
        elif name.endswith('DataLoader'):
            time_method(item, '__iter__', start)  # workers are started in it
            replace(item, '__init__', noting(note_made, 'Where a DataLoader is made is not known'))


def _mark_made(optimizer):
    marks.optimizer_made = True


def _watch_optimizers(module):
    if not replace(module.Optimizer, '__init__', noting(_mark_made, 'An optimizer is not seen')):
        return
    if not hasattr(module, 'register_optimizer_step_post_hook'):
        events.notice('Optimizer steps are not seen: this PyTorch has no hooks for optimizers; 2.0 '
                      'has. A step is from one batch to the next.')
        marks.hidden_optimizer = True
    elif find_spec('torch.compiler') is None:
        module.register_optimizer_step_post_hook(_stepped)
    else:
        module.register_optimizer_step_post_hook(_stepped_or_compiling)


def _stepped_or_compiling(optimizer, args, kwargs):
    # torch.compile traces this function: it keeps only this branch, which does not break the graph.
    if sys.modules['torch'].compiler.is_compiling():
        marks.optimizer_stepped = marks.compiled_step = True
    else:
        _stepped(optimizer, args, kwargs)


def _stepped(optimizer, args, kwargs):
    try:
        # DeepSpeed steps one optimizer once per parameter group, which it sets in turn.
        groups = getattr(optimizer, 'param_groups', None)
        trainer().optimizer_stepped((id(optimizer), id(groups[0]) if groups else 0))
    except Exception as error:
        events.notice('A step was not recorded: %r' % error)
