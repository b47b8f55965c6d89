"""Records when a training waits for its input and when it steps.

`start` runs when the interpreter starts and imports little; the module for a library is imported
after the program has imported that library. Nothing here may raise into the program.
"""
import os

# Modules of the program and the module of this package whose `patch(module)` hooks each.
TARGETS = {
    'torch.utils.data.dataloader': 'pytorch',
    'torch.utils.data._utils.worker': 'pytorch_workers',
    'torch.optim.optimizer': 'pytorch',
    'torch.nn.parallel.distributed': 'ddp',
    'torchdata.stateful_dataloader.stateful_dataloader': 'pytorch',
    'tensorflow.python.data.ops.iterator_ops': 'tensor_flow',
    'tensorflow.python.data.ops.dataset_ops': 'tensor_flow',
    'tensorflow.python.distribute.input_lib': 'tensor_flow',
    'keras.src.callbacks.callback_list': 'keras_fit',
    'keras.src.callbacks': 'keras_fit',
    'tf_keras.src.callbacks': 'keras_fit',
    'grain._src.python.dataset.dataset': 'grain_iterators',
    'grain._src.python.data_loader': 'grain_iterators',
    'queue': 'queues',
    'numpy': 'program',
    'multiprocessing.process': 'program',
}


def start():
    """Starts the hook if RECPACK_EVENTS names a folder and RECPACK_PYTHON_HOOK is not 0."""
    folder = os.environ.get('RECPACK_EVENTS')
    if not folder or os.environ.get('RECPACK_PYTHON_HOOK') == '0':
        return
    from . import events, imports
    events.start(folder)
    imports.start(__name__, TARGETS, events.notice)
