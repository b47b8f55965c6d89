"""Batches for training, as Python's users of loaders expect them."""
from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recpack_io import _core
from recpack_io.calling import Functions
from recpack_io.errors import InvalidArgumentError, UnsupportedError
from recpack_io.fields import Field, recipe as fields_of
from recpack_io.functions import BatchFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STATE_VERSION = 1
# The first pair that is there counts: torchrun's, Open MPI's, Slurm's.
_LAUNCHERS = (('RANK', 'WORLD_SIZE'), ('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'),
              ('SLURM_PROCID', 'SLURM_STEP_NUM_TASKS'))
_open: dict[int, weakref.ref[Loader]] = {}  # other threads may add and remove some meanwhile


@atexit.register
def _close_all() -> None:
    """Before the interpreter ends, which the loaders' threads may call."""
    for there in list(_open.values()):
        if (loader := there()) is not None:
            loader.close()
    _core.await_endings()
    threading = sys.modules.get('threading')
    if threading and any(thread.daemon for thread in threading.enumerate()):
        _core.set_leak_warnings(False)  # what such threads hold is never let go of


class Batch:
    """The arrays of a batch by name, each of shape (samples, ...). They lie in its own memory: they
    keep it, nothing is copied."""

    __slots__ = ('_core',)

    def __init__(self, core: _core.Batch):
        self._core = core

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._core.numpy(name)

    def __len__(self) -> int:
        return len(self._core)

    def keys(self) -> list[str]:
        """Names of the arrays."""
        return self._core.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def items(self) -> list[tuple[str, NDArray[Any]]]:
        """The arrays with their names."""
        return [(name, self[name]) for name in self.keys()]

    def dlpack(self, name: str) -> Any:
        """The array of this name for torch.from_dlpack(), jax.dlpack.from_dlpack() and their like:
        also of bfloat16, which NumPy has not."""
        return self._core.dlpack(name)

    @property
    def epoch(self) -> int:
        """That its first sample is of."""
        return self._core.epoch

    @property
    def number(self) -> int:
        """In the epoch, from where this run began."""
        return self._core.number

    @property
    def ids(self) -> NDArray[Any]:
        """Ordinal of each sample's record in the split, uint64 of shape (samples,)."""
        return self._core.ids

    @property
    def mask(self) -> NDArray[Any]:
        """0 where a sample only fills up the last batch, uint8 of shape (samples,)."""
        return self._core.mask

    @property
    def token(self) -> str:
        """Where a run stands that has used this batch: part of a state."""
        return self._core.token


def _in_jax_distributed() -> bool:
    """Without asking for devices, which would open them."""
    distributed = getattr(sys.modules.get('jax'), 'distributed', None)
    if distributed is None:
        return False
    if hasattr(distributed, 'is_initialized'):
        return distributed.is_initialized()
    state = getattr(sys.modules.get('jax._src.distributed'), 'global_state', None)  # JAX before 0.5
    return getattr(state, 'client', None) is not None


def place_of_process() -> tuple[int, int]:
    """Rank and world size of torch.distributed or jax.distributed where that is in use, else of the
    launcher."""
    torch = sys.modules.get('torch')
    distributed = getattr(torch, 'distributed', None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    if _in_jax_distributed():
        jax = sys.modules['jax']
        return jax.process_index(), jax.process_count()
    for rank, size in _LAUNCHERS:
        if os.environ.get(rank) and os.environ.get(size):
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def _given_path(path: str | os.PathLike[str]) -> str:
    """What it means now: it is opened anew where the loader begins anew, and by then the program may
    have changed its folder."""
    path = os.fspath(path)
    return os.path.join(os.getcwd(), path) if path and not os.path.isabs(path) else path


class Loader:
    """Batches of a data set, epoch by epoch: each `for batch in loader` is one epoch.

    dataset: of recpack_io.open().
    recipe: a name of recipe_names(); or `fields`: what a batch is made of.
    batch_size: of one rank.
    seed: order and augmentation are a function of it, of the data set and the fields alone, whatever
        threads and ranks there are.
    rank, world_size: None: those of torch.distributed, jax.distributed, torchrun, Open MPI or
        Slurm, else 0 of 1.
    order: "auto", "global", "window", "sequential".
    last_batch: "drop", "pad" (filled up; batch.mask says with what) or "keep".
    threads: 0: all processors that the process may use. prefetch: batches that are made ahead.
    max_live_batches: batches that may be held, by their arrays too, while the loader goes on, in memory
        beside that of `prefetch`; 2 or more. With so many held the next one raises
        InvalidArgumentError: copy what is to stay. 0: `prefetch` batches are all there are.
    cache: "none", "records" or "pictures", of at most `cache_bytes` bytes.
    on_bad_record: "fail", or "substitute" another for at most `max_bad_share` of an epoch's records;
        `ledger`: file that gets a line for each.
    batch_functions: called with each batch when it is whole: BatchFunctions, or functions that
        change its arrays in place.
    workers: processes that call Functions and batch functions; 0: the loader's threads call them.
        multiprocessing_context: how they are started: "fork", "spawn", "forkserver", a context, or
        None: multiprocessing's own.
    verify: check the CRCs of all that is read.
    batch_type: what a batch is; the adapters have theirs.
    device: None, the host: recpack_io.torch and recpack_io.jax have Loaders for others.

    One thread iterates; any may call close() and stats(). An iteration that is left in the middle of
    an epoch ends it: the next one is the next epoch. After load_state_dict() the next iteration goes
    on behind the batch that was last when the state was taken.

    Raises InvalidArgumentError for what makes no sense together. Batches raise CorruptError, with
    path, offset and ordinal; IoError; NotFoundError for a feature that a record lacks; and what
    functions raise. The loader is at its end then.
    """

    _all_open = _open  # which close() needs when the module's own names are gone
    _core = _functions = None
    _order: dict[str, str] = {}  # with what "auto" came to, or a state's
    _closed = False

    def __init__(self, dataset: _core.Dataset, recipe: str | None = None, *,
                 fields: Sequence[Field] | None = None, batch_size: int = 256, seed: int = 0,
                 rank: int | None = None, world_size: int | None = None, order: str = 'auto',
                 last_batch: str = 'drop', threads: int = 0, prefetch: int = 4,
                 max_live_batches: int = 16, cache: str = 'none', cache_bytes: int = 1 << 30,
                 on_bad_record: str = 'fail', max_bad_share: float = 0.001,
                 ledger: str | os.PathLike[str] = '', verify: bool = True,
                 batch_functions: Sequence[BatchFunction | Callable[..., Any]] = (),
                 workers: int = 0, multiprocessing_context: Any = None,
                 batch_type: Callable[[_core.Batch], Any] = Batch, device: None = None):
        if device is not None:
            raise UnsupportedError(f'arrays of NumPy are on the host, not on {device}: take the '
                                   'Loader of recpack_io.torch or recpack_io.jax')
        if (recipe is None) == (fields is None):
            raise TypeError('give a recipe or fields, one of them')
        if (rank is None) != (world_size is None):
            raise TypeError('give rank and world_size, or neither')
        if rank is None:
            rank, world_size = place_of_process()
        self.dataset = dataset
        self._functions = Functions(list(fields_of(recipe) if fields is None else fields),
                                    batch_functions, workers, multiprocessing_context)
        if workers and not threads:
            threads = max(workers, len(os.sched_getaffinity(0)))
        self._options = {
            'fields': self._functions.fields, 'batch_functions': self._functions.batch_functions,
            'shared_slabs': self._functions.share_slabs, 'running': self._functions.running,
            'batch_size': batch_size, 'seed': seed, 'rank': rank, 'world_size': world_size,
            'order': order, 'last_batch': last_batch, 'threads': threads, 'prefetch': prefetch,
            'max_live_batches': max_live_batches, 'cache': cache,
            'cache_bytes': 0 if cache == 'none' else cache_bytes,
            'on_bad_record': on_bad_record, 'max_bad_share': max_bad_share,
            'ledger': _given_path(ledger), 'verify': verify}
        self._batch_type = batch_type
        _open[id(self)] = weakref.ref(self)
        self._begin(epoch=0)

    def _begin(self, epoch: int = 0, token: str = '') -> None:
        self._check_open()
        order = {} if token else self._order
        core = _core.Loader(self.dataset,
                            self._options | order | {'epoch': epoch, 'resume': token})
        if token and core.seed() != self._options['seed']:
            raise InvalidArgumentError(f'the state is of seed {core.seed()}, the loader of seed '
                                       f'{self._options["seed"]}; make one with the state\'s')
        self._core, self._order = core, {'order': core.order()}
        self._epoch = core.epoch()  # that the next batch is of
        self._inside = False  # batches of an epoch were given, and not its end
        if self._closed:  # meanwhile
            core.close()
            self._check_open()

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgumentError('the loader was closed; make another')

    def close(self) -> None:
        """Ends its threads and worker processes. Batches that are held stay valid. It is called
        where the loader is let go of, and at the program's end. A function that runs on for more
        than a second is interrupted, by a SystemExit."""
        self._closed = True
        self._all_open.pop(id(self), None)
        if self._functions is not None:
            self._functions.stop()
        if self._core is not None:
            self._core.close()

    def __del__(self):
        self.close()

    def __len__(self) -> int:
        """Batches of a whole epoch."""
        return self._core.steps_per_epoch()

    def __iter__(self) -> Iterator[Batch]:
        if self._inside:
            self._begin(self._epoch + 1)
        while batches := self._next():
            yield batches.pop()  # no variable keeps it while the program works on it
        self._epoch, self._inside = self._core.epoch(), False

    def _next(self) -> list[Any]:
        """The next batch, alone in a list; at the epoch's end there is none in it."""
        core = self._core.next()
        if core is None:
            return []
        self._inside, self._epoch = True, core.epoch
        return [self._batch_type(core)]

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """What a batch is made of: by name the type, as "f32" or "bf16", and a sample's shape."""
        return {name: (kind, tuple(shape)) for name, kind, shape in self._core.arrays()}

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch, from its beginning; of the epoch that a state was taken
        in, what is left of it."""
        if self._inside or epoch != self._epoch:
            self._begin(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands: behind the last batch that it gave. An error in a run of
        `recprobe gain`, so that no checkpoint is overwritten with what it trains."""
        if _core.is_gain_run():
            raise UnsupportedError(
                'this run is an experiment of recprobe gain: most of its batches are repeated, and '
                'nothing of it is to be saved; ask recpack_io.is_gain_run() before saving')
        return {'version': _STATE_VERSION, 'token': self._core.token()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from there: `state` is of state_dict(). Threads, ranks and the batch size may be
        others than then. Raises ValueError for a state of another version, InvalidArgumentError for
        one of another data set or seed."""
        if state.get('version') != _STATE_VERSION:
            raise ValueError(f'the state has version {state.get("version")!r}, '
                             f'this package reads {_STATE_VERSION}')
        self._begin(token=state['token'])

    def stats(self) -> dict[str, Any]:
        """Where the loader's time went since it began: seconds, counts and bytes by stage; how many
        batches are ready and held, and the memory: `slabs` of `batch_bytes` each."""
        return self._core.stats()

    def __repr__(self) -> str:
        module = type(self).__module__.removesuffix('.loading')
        if self._closed:
            return f'<{module}.Loader of {self.dataset!r}, closed>'
        return (f'<{module}.Loader of {self.dataset!r}: {len(self):,} batches of '
                f'{self._options["batch_size"]:,} an epoch>')

    def _repr_html_(self) -> str:
        from html import escape

        from recpack_io import notebook
        return escape(repr(self)) if self._closed else notebook.of_loader(self)
