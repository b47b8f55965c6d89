"""Parts in a folder that every node sees, whose shards are renamed."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import recpack_io
from recpack_io.adapting.attempts import Parts
from recpack_io.errors import InvalidArgumentError

_MANIFEST = 'manifest.json'


def _manifest(folder: str) -> dict[str, Any] | None:
    with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, _MANIFEST), encoding='utf-8') as file:
        return json.load(file)
    return None


def _merge_feature(into: dict[str, Any], feature: dict[str, Any]) -> None:
    if into['kind'] != feature['kind']:
        into['kind'] = 'mixed'
    if into['length'] != feature['length']:
        into['length'] = 'varies'
    for name, choose in (('min_bytes', min), ('max_bytes', max)):
        if name in into and name in feature:
            into[name] = choose(into[name], feature[name])


def _merge_schema(into: dict[str, Any], schema: dict[str, Any]) -> None:
    for name in {**into, **schema}:
        if name in into and name in schema:
            _merge_feature(into[name], schema[name])
        else:  # some records have none
            into[name] = {**schema.get(name, into.get(name, {})), 'length': 'varies'}


def _merge(manifests: Sequence[dict[str, Any]], split: str) -> dict[str, Any]:
    """Returns the manifest of one split whose shards are those of the manifests, in their order."""
    whole = json.loads(json.dumps(manifests[0]))
    of, others = whole['splits'][split], manifests[1:]
    for each in others:
        part = each['splits'][split]
        of['shards'] += part['shards']
        for count in ('records', 'bytes'):
            of[count] += part[count]
        for label, count in part.get('class_counts', {}).items():
            counts = of.setdefault('class_counts', {})
            counts[label] = counts.get(label, 0) + count
        _merge_schema(whole['schema'], each['schema'])
    return whole | {count: of[count] for count in ('records', 'bytes')}


def _added(whole: dict[str, Any], old: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the manifest with the splits of the old one, where there is one."""
    if old is None:
        return whole
    _merge_schema(old['schema'], whole['schema'])
    counts = {count: old[count] + whole[count] for count in ('records', 'bytes')}
    return old | counts | {'splits': old['splits'] | whole['splits']}


class FolderParts(Parts):
    """Parts in a folder `.parts-JOB` of the data set's. Arguments: as in parts_at()."""

    def __init__(self, out: str, split: str, overwrite: bool, options: dict[str, Any]):
        self.out, self._split, self._overwrite, self._options = os.path.abspath(out), split, overwrite, options
        self._folder = os.path.join(self.out, f'.parts-{uuid.uuid4().hex}')

    def begin(self) -> None:
        """Makes the folder."""
        os.makedirs(self.out, exist_ok=True)
        there = sorted(name for name in os.listdir(self.out) if not name.startswith('.parts-'))
        old = _manifest(self.out)
        if old is None and there:
            raise InvalidArgumentError(f'{self.out} has other files ({there[0]}): name another folder')
        if old is not None and not self._overwrite and self._split in old['splits']:
            raise InvalidArgumentError(f'{self.out} has a split {self._split!r}: name another split or folder, or '
                                       'overwrite the data set')
        os.mkdir(self._folder)

    def _pack(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        os.mkdir(os.path.join(self._folder, name))  # fails if the parts are published: this attempt came too late
        recpack_io.pack(rows, os.path.join(self._folder, name), split=self._split, **self._options)

    def publish(self, names: Iterable[str]) -> None:
        """Makes the data set of the parts of these names, in order of their tasks."""
        names = sorted(names)
        if names:
            made: list[str] = []
            try:
                self._publish(names, made)
            except BaseException:
                for path in made:
                    pathlib.Path(path).unlink(missing_ok=True)
                raise
        self.discard()

    def discard(self) -> None:
        """Removes all parts that have not been published."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _publish(self, names: list[str], made: list[str]) -> None:
        manifests = [_manifest(os.path.join(self._folder, name)) for name in names]
        old = self._old()
        whole = _merge([each for each in manifests if each is not None], self._split)
        shards = whole['splits'][self._split]['shards']
        paths = [os.path.join(self._folder, name, shard['file']) for name, each in zip(names, manifests)
                 for shard in each['splits'][self._split]['shards']]
        for i, (shard, path) in enumerate(zip(shards, paths)):
            shard['file'] = re.sub(r'\d{5,}-of-\d{5,}', f'{i:05}-of-{len(shards):05}', shard['file'])
            made.append(os.path.join(self.out, shard['file']))
            os.rename(path, made[-1])
        made += [os.path.join(self.out, name) for name in (f'{self._split}.recindex', f'{_MANIFEST}.tmp')]
        program = pathlib.Path(recpack_io.__file__).parent / 'bin' / 'recpack'
        of_split = os.path.join(self.out, f'{self._split}-*.tfrecord')
        subprocess.run([program, 'index', of_split, '--no-verify', '--quiet'], check=True)
        with open(made[-1], 'w', encoding='utf-8') as file:
            json.dump(_added(whole, old), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made[-1], os.path.join(self.out, _MANIFEST))

    def _old(self) -> dict[str, Any] | None:
        """Returns the manifest of the folder, unless that data set is to be removed, which it then is."""
        old = _manifest(self.out)
        if old is None or not self._overwrite:
            return old
        os.unlink(os.path.join(self.out, _MANIFEST))  # first: what is left is no data set
        for split in old['splits'].values():
            for name in (split.get('index', ''), *(shard['file'] for shard in split['shards'])):
                if name and os.path.basename(name) == name:
                    pathlib.Path(self.out, name).unlink(missing_ok=True)
        for listed in old.get('files', []):
            if os.path.basename(listed['file']) == listed['file']:
                pathlib.Path(self.out, listed['file']).unlink(missing_ok=True)
        shutil.rmtree(os.path.join(self.out, '.recpack'), ignore_errors=True)
        return None
