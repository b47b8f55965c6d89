"""Loader: batches for training."""
from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recpack_io import _core, states
from recpack_io.arguments import checks_arguments
from recpack_io.audits import Audit, Substitution, to_audit
from recpack_io.batches import Batch
from recpack_io.calling import Functions
from recpack_io.closing import open_loaders
from recpack_io.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from recpack_io.fields import Field, recipe as fields_of
from recpack_io.functions import BatchFunction
from recpack_io.mixing import MixImages
from recpack_io.mixtures import Mixture, core_mixture
from recpack_io.ranks import place_of_process
from recpack_io.reading import opened
from recpack_io.views import select

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from recpack_io._core import Batch as CoreBatch, Record  # a class here has a _core itself
    from recpack_io.options import Cache, HashRange, LastBatch, OnBadRecord, Order, Share
    from recpack_io.reading import Dataset, Path
    from recpack_io.selecting import Wanted
    from recpack_io.views import View

__all__ = ['Batch', 'Loader', 'place_of_process']


def _given_path(path: str | os.PathLike[str]) -> str:
    """Returns the path made absolute.

    The loader may open it again later, when the working directory may have changed.
    """
    path = os.fspath(path)
    return os.path.join(os.getcwd(), path) if path and not os.path.isabs(path) else path


def order_text(order: Order) -> str:
    """Returns the order as the core reads it: "window:10:64:2"."""
    return order if isinstance(order, str) else ':'.join(map(str, order))


class Loader:
    """Loads batches of a data set, epoch by epoch: each `for batch in loader` is one epoch.

    Only one thread may iterate; close() and stats() are thread-safe. Leaving an iteration early
    ends the epoch: the next iteration is the next epoch. After load_state_dict(), the next
    iteration continues after the last batch before the state was taken.

    Args:
        dataset: Result of recpack_io.open(); a View, or a Mixture of several; or a path or URL, which
            is opened as by recpack_io.open(path, split).
        recipe: One of recipe_names(). Alternatively give `fields`; neither if each source of a
            Mixture has its own.
        fields: Fields of the batch.
        batch_size: Samples per batch and rank.
        epochs: Number of epochs of the whole training, those before a loaded state included. After
            the last one nothing more is read ahead, and another iteration is an error. 0: no end;
            the loader always reads ahead into the next epoch.
        seed: Order and augmentation are a function of the seed, the data set and the fields only,
            independent of the number of threads and ranks.
        rank, world_size: Default: from torch.distributed, jax.distributed, torchrun, Open MPI or
            Slurm, otherwise 0 and 1.
        split: Split of a path. Default: as in recpack_io.open().
        subset, filter, balanced, weights: Select records, as the methods of Dataset do: numbers or a
            mask, a function or values by feature, the feature of the class, a weight per record.
            For classes sampled equally often: balanced="label".
        hash_range: Part of the records, by their hashes from 0 to 1, as random_split() makes it:
            (0, 0.9) for training and (0.9, 1) for validation; (begin, end, seed) with a seed of
            the hash, (begin, end, seed, key) with the feature to hash.
        order: "auto", "global", "window", ("window", BLOCK, LANES, WINDOW) or "sequential".
        share: "samples": a step's samples are dealt to the ranks one by one. "batches": each rank
            gets a contiguous run of them, so that the ranks' batches, gathered, are in order.
        last_batch: "drop", "pad" (fill up; batch.mask marks the padding) or "keep".
        threads: Number of threads. 0: all processors that the process may use.
        prefetch: Number of batches made ahead.
        max_live_batches: Number of batches (or their arrays) that may be held while the loader
            continues, in memory in addition to that of `prefetch`; at least 2. If that many are
            held, the next one raises InvalidArgumentError: copy what you keep. 0: only the
            `prefetch` batches exist.
        cache: "none", "records" or "pictures".
        cache_bytes: Maximum size of the cache.
        on_bad_record: "fail" or "substitute" (take another record).
        max_bad_share: Maximum share of an epoch's records that may be substituted.
        ledger: File to which a line is appended for each substitution.
        audit_counts: Count each record in audit(), in one byte per record, so that it can name
            records that are missing or repeated.
        verify: Check the CRCs of everything that is read.
        batch_functions: Called with each complete batch: BatchFunctions, or functions that change
            its arrays in place. MixImages is mixup and cutmix, without Python.
        workers: Number of processes that call Functions and batch functions. 0: the loader's
            threads call them.
        multiprocessing_context: How the processes are started: "fork", "spawn", "forkserver", a
            context, or None for the default of multiprocessing.
        batch_type: Type of batches; set by adapters.
        device: None, for the host. For other devices use the Loaders of recpack_io.torch and
            recpack_io.jax.

    Raises:
        InvalidArgumentError: If options are invalid or contradict each other.
        CorruptError, IoError, NotFoundError: During iteration, if a record is corrupt (with path,
            offset and ordinal), cannot be read or lacks a feature. Exceptions of user functions are
            raised as well. The loader gives no more batches afterwards.
    """

    _all_open = open_loaders  # for close(), when the module's globals may be gone
    _core = _functions = None
    _order: dict[str, str] = {}  # the resolved order, or the state's
    _closed = False

    @checks_arguments()
    def __init__(self, dataset: Dataset | View | Mixture | Path, recipe: str | None = None, *,
                 fields: Sequence[Field] | None = None, batch_size: int = 256, seed: int = 0,
                 epochs: int = 0,
                 rank: int | None = None, world_size: int | None = None, split: str = '',
                 subset: ArrayLike | None = None,
                 filter: Callable[[Record], Any] | Mapping[str, Wanted] | None = None,  # noqa: A002
                 hash_range: HashRange | None = None, balanced: str = '',
                 weights: ArrayLike | None = None, order: Order = 'auto',
                 share: Share = 'samples',
                 last_batch: LastBatch = 'drop', threads: int = 0, prefetch: int = 4,
                 max_live_batches: int = 16, cache: Cache = 'none',
                 cache_bytes: int = 1 << 30, on_bad_record: OnBadRecord = 'fail',
                 max_bad_share: float = 0.001,
                 ledger: str | os.PathLike[str] = '', audit_counts: bool = False,
                 verify: bool = True,
                 batch_functions: Sequence[BatchFunction | MixImages | Callable[..., Any]] = (),
                 workers: int = 0, multiprocessing_context: Any = None,
                 batch_type: Callable[[CoreBatch], Any] = Batch, device: None = None):
        if device is not None:
            raise UnsupportedError(f'arrays of NumPy are on the host, not on {device}: take the '
                                   'Loader of recpack_io.torch or recpack_io.jax')
        dataset = opened(dataset, split)
        own_recipes = dataset.recipes if isinstance(dataset, Mixture) else []
        if own_recipes and not (recipe is None and fields is None):
            raise TypeError('each source of the mixture has a recipe: give the loader none')
        if not own_recipes and (recipe is None) == (fields is None):
            raise TypeError('give a recipe or fields, one of them')
        if (rank is None) != (world_size is None):
            raise TypeError('give rank and world_size, or neither')
        if rank is None:
            rank, world_size = place_of_process()
        self.dataset = select(dataset, subset=subset, filter=filter, hash_range=hash_range,
                              balanced=balanced, weights=weights)
        self._recipe = recipe
        lists = [list(fields_of(each) if isinstance(each, str) else each)
                 for each in own_recipes or [recipe if fields is None else fields]]
        self._functions = Functions([field for each in lists for field in each],
                                    batch_functions, workers, multiprocessing_context)
        prepared = iter(self._functions.fields)
        lists = [[next(prepared) for _ in each] for each in lists]
        if workers and not threads:
            threads = max(workers, len(os.sched_getaffinity(0)))
        self._options = {
            'fields': [] if own_recipes else lists[0], 'view_fields': lists if own_recipes else [],
            'batch_functions': self._functions.batch_functions,
            'shared_slabs': self._functions.share_slabs, 'running': self._functions.running,
            'batch_size': batch_size, 'epochs': epochs, 'seed': seed, 'rank': operator.index(rank),
            'world_size': operator.index(world_size), 'order': order_text(order), 'share': share, 'last_batch': last_batch, 'threads': threads,
            'prefetch': prefetch,
            'max_live_batches': max_live_batches, 'cache': cache,
            'cache_bytes': 0 if cache == 'none' else cache_bytes,
            'on_bad_record': on_bad_record, 'max_bad_share': max_bad_share,
            'ledger': _given_path(ledger), 'audit_counts': audit_counts, 'verify': verify}
        self._batch_type = batch_type
        open_loaders[id(self)] = weakref.ref(self)
        self._begin(epoch=0)

    def _begin(self, epoch: int = 0, token: str = '', audit: str = '') -> None:
        self._check_open()
        order = {} if token else self._order
        core = self._make_core(self._options | order | {'epoch': epoch, 'resume': token,
                                                        'audit': audit})
        if token and core.seed() != self._options['seed']:
            raise InvalidArgumentError(f'the state has seed {core.seed()}, the loader has seed '
                                       f'{self._options["seed"]}; make one with the state\'s')
        self._core, self._order = core, {'order': core.order()}
        self._epoch = core.epoch()  # of the next batch
        self._inside = False  # inside an epoch
        if self._closed:  # meanwhile
            core.close()
            self._check_open()

    def _make_core(self, options: dict[str, Any]) -> Any:
        """Returns what makes the batches: the core's loader, or one with its methods."""
        return _core.Loader(core_mixture(self.dataset), options)

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgumentError('the loader was closed; make another')

    def close(self) -> None:
        """Ends the threads and worker processes. Batches that are held stay valid.

        Called at the end of `with`, on destruction and at exit. A function that runs for more than another second is
        interrupted by a SystemExit.
        """
        self._closed = True
        self._all_open.pop(id(self), None)
        if self._functions is not None:
            self._functions.stop()
        if self._core is not None:
            self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self):
        self.close()

    def __len__(self) -> int:
        """Returns the number of batches per epoch."""
        return self._core.steps_per_epoch()

    def __iter__(self) -> Iterator[Batch]:
        if self._inside:
            self._begin(self._epoch + 1)
        while batches := self._next():
            yield batches.pop()  # no variable must keep it while the program uses it
        self._epoch, self._inside = self._core.epoch(), False

    def _next(self) -> list[Any]:
        """Returns the next batch in a list; an empty list at the end of the epoch."""
        core = self._core.next()
        if core is None:
            return []
        self._inside, self._epoch = True, core.epoch
        return [self._batch_type(core)]

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int | None, ...]]]:
        """Type, such as "f32" or "bf16", and sample shape of each array, by name.

        The first dimension of a ragged array with offsets is None.
        """
        return {name: (kind, (None, *shape[1:]) if rows == 'ragged' else tuple(shape))
                for name, kind, shape, rows in self._core.arrays()}

    def _rows(self) -> dict[str, str]:
        """Returns what the rows of each array are: 'samples', 'ragged' or 'offsets'."""
        return {name: rows for name, _, _, rows in self._core.arrays()}

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration this epoch, from its beginning.

        If it is the epoch of a loaded state, the rest of it.
        """
        if self._inside or epoch != self._epoch:
            self._begin(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state: the position after the last batch that the loader gave.

        Raises:
            UnsupportedError: In a run of `recprobe gain`, so that no checkpoint is overwritten.
        """
        if _core.is_gain_run():
            raise UnsupportedError(
                'this run is an experiment of recprobe gain: most of its batches are repeated, and '
                'nothing of it is to be saved; ask recpack_io.is_gain_run() before saving')
        state = {'version': states.VERSION, 'token': self._core.token(),
                 'rank': self._options['rank'], 'world_size': self._options['world_size']}
        return state | {'audit': str(self.audit())}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state of state_dict(). Threads, ranks and batch size may differ.

        The audit continues if rank and world size are those of the state, and without counts.
        Otherwise it begins anew: save the audits of all ranks with the state, and merge them.

        Raises:
            ValueError: If the state has another version.
            InvalidArgumentError: If the state belongs to another data set or seed.
        """
        if state.get('version') != states.VERSION:
            raise ValueError(f'the state has version {state.get("version")!r}, '
                             f'this package reads {states.VERSION}')
        same_place = all(state.get(name) == self._options[name] for name in ('rank', 'world_size'))
        audited = same_place and not self._options['audit_counts']
        self._begin(token=state['token'], audit=state.get('audit', '') if audited else '')

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Writes state_dict() to a file, which is replaced atomically.

        Args:
            path: The file. With several ranks one of them writes it, after a batch that all got.

        Raises:
            OSError: If the file cannot be written.
            UnsupportedError: In a run of `recprobe gain`, as for state_dict().
        """
        states.write_state(path, self.state_dict())

    def load_state(self, path: str | os.PathLike[str], *, missing_ok: bool = False) -> bool:
        """Continues from the state that save_state() wrote, as load_state_dict() does.

        Args:
            path: The file.
            missing_ok: Leave the loader as it is if there is no such file.

        Returns:
            True; False if there is no such file.

        Raises:
            NotFoundError: If there is no such file, and it must be there.
            CorruptError: If it holds no state.
            ValueError: If the state has another version.
            InvalidArgumentError: If the state belongs to another data set or seed.
            OSError: If the file cannot be read.
        """
        try:
            state = states.read_state(path)
        except NotFoundError:
            if missing_ok:
                return False
            raise
        self.load_state_dict(state)
        return True

    def audit(self) -> Audit:
        """Returns the audit of the batches given so far in the epoch; after its end, of all of it.

        `loader.audit().check(dataset).complete` is true if each record came as often as it should.
        With several ranks, merge() their audits first.
        """
        return to_audit(self._core.audit())

    def substitutions(self) -> list[Substitution]:
        """Returns what replaced corrupt records in the batches given so far in this run."""
        return [Substitution(*each) for each in self._core.substitutions()]

    def stats(self) -> dict[str, Any]:
        """Returns statistics since the start.

        Returns:
            Seconds, counts and bytes per stage; numbers of ready and held batches; memory:
            `slabs` of `batch_bytes` each; and `store`, all 0 for files on disks: requests to object
            stores, their bytes, sums of their times to the first byte and from there on, how many
            were throttled (429, 503), retried and hedged, bytes found and missed in the cache
            (`RECPACK_CACHE_BYTES`), and `wait_seconds`, what the threads waited for.
        """
        return self._core.stats()

    def __repr__(self) -> str:
        module = type(self).__module__.removesuffix('.loading')
        if self._core is None:  # a debugger may look at it before it is complete
            return f'<{module}.Loader, not open>'
        if self._closed:
            return f'<{module}.Loader of {self.dataset!r}, closed>'
        options, place = self._options, ''
        if options['world_size'] > 1:
            place = f', rank {options["rank"]} of {options["world_size"]}'
        return (f'<{module}.Loader of {self.dataset!r}: {self._recipe or ", ".join(self.arrays)}, '
                f'{len(self):,} batches of {options["batch_size"]:,} an epoch{place}>')

    def _repr_html_(self) -> str:
        from html import escape

        from recpack_io import notebook
        return escape(repr(self)) if self._closed else notebook.of_loader(self)
