from . import fetch


def _worker_loop(dataset, asked, *_others):
    while True:
        item = asked.get()
        if item is None:
            return
        fetch.fetch(dataset, item)
