"""Packing on a Ray cluster: tasks that each make a part of the shards, as `recpack pack --task I/N` does."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import ray

import recpack_io
from recpack_io import _core
from recpack_io.errors import InvalidArgumentError, RecpackError
from recpack_io.packing import PackResult
from recpack_io.ray.errors import in_caller

_DOWNLOADED = 'cifar10', 'cifar100'  # if there is no such file


def _tasks_begun(out: str) -> int | None:
    """Number of tasks of an unfinished pack; None also where only the tasks' nodes have keys to a store."""
    try:
        return _core.tasks_begun(out)
    except RecpackError:
        return None


@ray.remote
def _pack_task(source: str, out: str, number: int, tasks: int, options: dict[str, Any]) -> PackResult:
    return recpack_io.pack(source, out, task=(number, tasks), **options)


def _everywhere(path: str | os.PathLike) -> str:
    """Returns the path as it is for tasks, whose working directory is another; URLs are left alone."""
    path = os.fspath(path)
    return path if '://' in path else os.path.abspath(path)


def pack(source: str | os.PathLike, out: str | os.PathLike, *, tasks: int = 0, cpus_per_task: float = 1,
         max_retries: int = 3, progress: Callable[[int, int], object] | None = None, **options: Any) -> PackResult:
    """Packs a path as recpack_io.pack() does, in tasks of a Ray cluster.

    Source and `out` must be URLs, or on a file system that every node sees at the same path. The
    shards, index and manifest are, byte for byte, those of recpack_io.pack() on one machine. A task
    whose worker or node is lost runs again elsewhere and continues. After an error, the same call
    packs what is missing.

    Args:
        source: A path, as for recpack_io.pack().
        out: Output folder, or an s3:// or gs:// URL.
        tasks: Number of tasks; each packs every `tasks`-th shard. 0: as many as the cluster has CPUs
            for, or as an unfinished pack in `out` had.
        cpus_per_task: CPUs that Ray gives to a task, which uses as many threads.
        max_retries: How often a task runs again whose worker or node was lost.
        progress: Called with the numbers of tasks that ended, and of all.
        **options: As for recpack_io.pack() with a path, except `overwrite` and `task`.

    Returns:
        A PackResult of all tasks.

    Raises:
        InvalidArgumentError: For `overwrite` or `task`, and what recpack_io.pack() raises: the first
            error of a task, after which the others are cancelled.
        IoError: If a task was lost more often than `max_retries`.
    """
    for name in ('overwrite', 'task'):
        if name in options:
            raise InvalidArgumentError(f'{name} is not for pack() on a cluster: leave it out'
                                       + (', and remove the folder first' if name == 'overwrite' else ''))
    out = _everywhere(out)
    if source not in _DOWNLOADED or os.path.exists(source):
        source = _everywhere(source)
    if not ray.is_initialized():
        ray.init()
    tasks = tasks or _tasks_begun(out) or max(1, int(ray.cluster_resources().get('CPU', 1) // cpus_per_task))
    options = {'threads': max(1, int(cpus_per_task)), **options}
    remote = _pack_task.options(num_cpus=cpus_per_task, max_retries=max_retries, scheduling_strategy='SPREAD')
    waiting = {remote.remote(source, out, number, tasks, options): number for number in range(tasks)}
    results: list[PackResult] = []
    try:
        while waiting:
            for ended in ray.wait(list(waiting))[0]:
                number = waiting.pop(ended)
                try:
                    results.append(ray.get(ended))
                except ray.exceptions.RayError as error:
                    raise in_caller(error, f'task {number} of {tasks}',
                                    'make the same call again, which packs what is missing') from None
            if progress is not None:
                progress(len(results), tasks)
    finally:
        for task in waiting:
            ray.cancel(task)
    return PackResult(records=sum(result.records for result in results), nbytes=sum(result.nbytes for result in results),
                      shards=sum(result.shards for result in results),
                      skipped=[each for result in results for each in result.skipped],
                      complete=any(result.complete for result in results),
                      notices=list(dict.fromkeys(notice for result in results for notice in result.notices)))
