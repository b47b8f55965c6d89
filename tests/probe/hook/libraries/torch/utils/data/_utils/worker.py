from . import fetch


def _worker_loop(dataset, asked, init_fn=None, *_others):
    if init_fn is not None:
        init_fn(0)
    while True:
        item = asked.get()
        if item is None:
            return
        fetch.fetch(dataset, item)
