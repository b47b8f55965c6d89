"""Loader whose batches the CPUs of a Ray cluster make."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ray

from recpack_io.arguments import checks_arguments
from recpack_io.errors import InvalidArgumentError, UnsupportedError
from recpack_io.feeding.loading import FedLoader, last_batch_of_makers, refuse_bfloat16
from recpack_io.fields import Field
from recpack_io.ray.makers import Actors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recpack_io.mixtures import Mixture
    from recpack_io.options import LoaderOptionsWithoutFields
    from recpack_io.reading import Dataset, Path
    from recpack_io.views import View

# Options of the actors' loaders, if they are given.
_PASSED_ON = ('batch_size', 'seed', 'order', 'threads', 'prefetch', 'cache', 'cache_bytes', 'verify', 'batch_functions',
              'workers', 'multiprocessing_context')


class Loader(FedLoader):
    """A recpack_io.Loader whose batches are made by actors of a Ray cluster.

    Batches, their order, states and audits are, bit for bit, those of the local loader, and a state
    of one continues the other. Step s is made by actor s modulo `actors`. An actor that is lost is
    replaced by another, which makes its batches again. The shards must be at a URL, or on a file
    system that every node sees at the same path. Arrays lie in Ray's object store and are
    read-only; batch.dlpack(name) copies one. At most actors * ahead batches wait there, besides
    those that the program holds.

    Args:
        actors: Number of actors. 0: as many as the cluster has CPUs for.
        cpus_per_actor: CPUs that Ray gives to an actor, whose loader uses as many threads.
        ahead: Batches of each actor that are made, or on their way, before they are asked for.
        max_restarts: How often an actor is replaced that gives no batch in between.
        timeout: Seconds to wait for a batch before an error says so; the next call waits again.
        actor_options: More of Ray's options for the actors, such as {"resources": {"cpu_node": 1}}.
        options: As in recpack_io.Loader, of each actor's loader: `threads`, `prefetch`, `workers`, `cache` and
            the like. With several ranks, share="batches" is needed.

    Raises:
        UnsupportedError: For bad records to be substituted, counts of the audit, and bfloat16.
        IoError: If an actor is lost again and again, or the cluster has no CPU for it.

    As recpack_io.Loader: the same arguments, order and state.
    """

    _kind = 'actors'

    @checks_arguments()
    def __init__(self, dataset: Dataset | View | Mixture | Path, recipe: str | None = None, *,
                 fields: Sequence[Field] | None = None, actors: int = 0, cpus_per_actor: float = 1, ahead: int = 2,
                 max_restarts: int = 3, timeout: float = 300, actor_options: Mapping[str, Any] | None = None,
                 **options: Unpack[LoaderOptionsWithoutFields]):
        self._refuse(options)
        if ahead < 1 or actors < 0:
            raise InvalidArgumentError(f'actors={actors}, ahead={ahead}: give ahead=1 or more, and actors=0 or more')
        if not ray.is_initialized():
            ray.init()
        self._count = actors or max(1, int(ray.cluster_resources().get('CPU', 1) // cpus_per_actor))
        self._feeding = {'ahead': ahead, 'max_restarts': max_restarts}
        self._timeout = timeout
        self._of_actors = {'num_cpus': cpus_per_actor, 'scheduling_strategy': 'SPREAD', **(actor_options or {})}
        passed = {name: options[name] for name in _PASSED_ON if name in options}  # type: ignore[literal-required]
        last = last_batch_of_makers(options.get('last_batch', 'drop'))
        self._passed = {'threads': max(1, int(cpus_per_actor)), 'fields': fields, **passed, 'last_batch': last}
        super().__init__(dataset, recipe, fields=fields, **{**options, 'workers': 0})
        try:
            refuse_bfloat16(self.arrays)
        except UnsupportedError:
            self.close()
            raise

    @staticmethod
    def _refuse(options: Mapping[str, Any]) -> None:
        if options.get('on_bad_record', 'fail') != 'fail':
            raise UnsupportedError('on_bad_record="substitute" is not for actors, whose budget would not be one: run '
                                   '`recpack repair` on the shards, or take the local loader')
        for name in ('audit_counts', 'ledger', 'device'):
            if options.get(name):
                raise UnsupportedError(f'{name} is not for a loader on a cluster: leave it out')

    def _start_makers(self) -> Actors:
        given = ray.put(self.dataset), self._recipe, self._passed
        return Actors(self._count, given, self._of_actors, self._timeout)
