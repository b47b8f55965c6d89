"""Audits: check which records an epoch delivered."""
from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recpack_io import _core
from recpack_io.mixtures import core_mixture

if TYPE_CHECKING:
    from recpack_io._core import Audit as CoreAudit
    from recpack_io.mixtures import Mixture
    from recpack_io.selecting import Selectable


@dataclass(frozen=True)
class Substitution:
    """A corrupt record that was replaced by another.

    Attributes:
        epoch, position: Place of the sample.
        source: Number of the source in the mixture; 0 without one.
        bad, taken: Ordinals of the corrupt record and of its substitute.
        path: File of the corrupt record.
        reason: What is wrong with it.
    """

    epoch: int
    position: int
    source: int
    bad: int
    taken: int
    path: str
    reason: str


@dataclass(frozen=True)
class Difference:
    """A record that did not come as often as expected.

    Attributes:
        source: Number of the source in the mixture; 0 without one.
        id: Ordinal of the record in the split.
        expected, delivered: Number of times; 255 for 255 or more.
    """

    source: int
    id: int
    expected: int
    delivered: int


@dataclass(frozen=True)
class AuditReport:
    """Result of Audit.check().

    Attributes:
        holds: True if each record came as often as expected, apart from substitutions.
        samples: Number delivered, which are expected to be the first ones of the epoch.
        epoch_samples: Number in the whole epoch.
        substituted: Samples that replaced a corrupt record.
        counted: True if the audit has counts, which differences are found by.
        differing: Number of records that did not come as often as expected.
        differences: The first ones of these.
    """

    holds: bool
    samples: int
    epoch_samples: int
    substituted: int
    counted: bool
    differing: int
    differences: tuple[Difference, ...]

    @property
    def complete(self) -> bool:
        """True if the whole epoch came, each record as often as expected."""
        return self.holds and self.samples == self.epoch_samples


def merged(texts: Iterable[str]) -> Audit:
    """Returns the sum of audits that str() gave; empty texts are left out."""
    first, *others = (Audit.parse(text) for text in texts if text)
    for other in others:
        first.merge(other)
    return first


class Audit:
    """Sum over the records that an epoch delivered, whatever their order; see Loader.audit().

    str() gives one line, parse() reads it. Can be pickled, without counts.
    """

    _core: CoreAudit

    @staticmethod
    def parse(text: str) -> Audit:
        """Returns the audit of a line that str() gave.

        Raises:
            InvalidArgumentError: If the text is not an audit or was changed.
        """
        return to_audit(_core.Audit._parse(text))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Audit:
        """Reads an audit and its counts.

        Args:
            path: File that save() wrote.

        Raises:
            NotFoundError, IoError, CorruptError: If it cannot be read.
        """
        return to_audit(_core.Audit._load(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the audit and its counts.

        Args:
            path: The file, which is replaced atomically.
        """
        self._core._save(path)

    def merge(self, other: Audit) -> Audit:
        """Adds the audit of another rank, or of an earlier part of the run.

        Returns:
            This audit, so that calls chain.

        Raises:
            InvalidArgumentError: If it belongs to other samples or to another epoch, seed or order.
        """
        self._core._merge(other._core)
        return self

    def check(self, samples: Selectable | Mixture, *, most_listed: int = 100) -> AuditReport:
        """Compares the merged audits of all ranks with what the epoch should have delivered.

        Args:
            samples: What the loaders were made with: a Dataset, View or Mixture.
            most_listed: Maximum number of differences to list. These need counts:
                Loader(audit_counts=True).

        Raises:
            InvalidArgumentError: If the audit belongs to other samples.
        """
        *facts, differences = self._core._check(core_mixture(samples), most_listed)
        return AuditReport(*facts, tuple(Difference(*each) for each in differences))

    @property
    def epoch(self) -> int:
        """Epoch that it covers."""
        return self._core.epoch

    @property
    def samples(self) -> int:
        """Number of samples delivered, without padding."""
        return self._core.samples

    @property
    def substituted(self) -> int:
        """Number of samples that replaced a corrupt record."""
        return self._core.substituted

    @property
    def has_counts(self) -> bool:
        """True if it can name the records that are missing or repeated."""
        return self._core.has_counts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self._core._text()

    def __repr__(self) -> str:
        return f'<recpack_io.Audit of epoch {self.epoch}: {self.samples:,} samples>'

    def __reduce__(self):
        return Audit.parse, (str(self),)


def to_audit(core: CoreAudit) -> Audit:
    """Returns the audit with its methods in Python."""
    audit = Audit()
    audit._core = core
    return audit
