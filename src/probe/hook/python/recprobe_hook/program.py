"""Samples the lines of programs that no library reports to train, and of their processes."""
import _thread
import functools

from . import input_work, parents


def patch(module):
    if hasattr(module, 'BaseProcess'):
        _watch_processes(module.BaseProcess)
        return
    import threading
    if _thread.get_ident() == threading.main_thread().ident:
        input_work.watch_program()


def _watch_processes(owner):
    """`owner`: multiprocessing's class of a process; its _bootstrap() runs in the new process."""
    work = owner._bootstrap
    if hasattr(work, '_recprobe'):
        return

    @functools.wraps(work)
    def _bootstrap(self, *args, **kwargs):
        parents.write_parent(getattr(self, '_parent_pid', 0))
        input_work.watch_process()
        try:
            return work(self, *args, **kwargs)
        finally:
            input_work.end()  # such processes end without atexit

    _bootstrap._recprobe = True
    owner._bootstrap = _bootstrap
