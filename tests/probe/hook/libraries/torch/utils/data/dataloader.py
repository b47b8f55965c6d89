class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._items = iter(loader.dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return self._next_data()


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def _next_data(self):
        return next(self._items)


class DataLoader:
    def __init__(self, dataset, num_workers=0, prefetch_factor=None, persistent_workers=False,
                 pin_memory=False):
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory = pin_memory

    def __iter__(self):
        return _SingleProcessDataLoaderIter(self)
