"""Loader that sends batches to devices ahead of their use."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from recpack_io import loading
from recpack_io.audits import Audit
from recpack_io.errors import InvalidArgumentError


def _itself(core):
    return core


class AheadLoader(loading.Loader):
    """A loader that sends `ahead` batches before they are requested.

    Subclasses define what is sent for a batch and what the program receives. The state refers to
    the last batch that was given; batches on their way are not part of it.
    """

    def __init__(self, dataset, recipe: str | None = None, *, ahead: int, **options):
        if ahead < 0:
            raise InvalidArgumentError(f'{ahead} batches cannot be ahead: give 0 or more')
        self._ahead = ahead
        self._given = self._end = ''  # tokens of the last batch given and of an epoch's end
        # Audit after the last batch given, as a line; empty: that of the core.
        self._audited = ''
        super().__init__(dataset, recipe, batch_type=_itself, **options)

    def _make_room(self) -> None:
        """Called before the next batch is requested, which needs a free slab."""

    def _send(self, core):
        """Starts sending a batch; keeps what is needed until that is complete."""
        raise NotImplementedError

    def _receive(self, sent):
        """Returns the batch for the program, from the result of _send()."""
        return sent

    def _begin(self, *place, **places) -> None:
        super()._begin(*place, **places)
        self._audited = str(super().audit()) if self._ahead else ''
        self._given = self._core.token()

    def __iter__(self) -> Iterator:
        batches, on_way, more, failure = super().__iter__(), deque(), True, None
        while more or on_way:
            try:
                more = more and self._fetch(batches, on_way)
            except Exception as error:  # raised after the batches on their way
                more, failure = False, error
            if on_way and (len(on_way) > self._ahead or not more):
                yield self._hand_over(on_way)
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # its traceback refers to this frame
        self._given, self._audited = self._end, ''

    # Separate functions, so that no variable keeps a batch while the program works on another.

    def _fetch(self, batches: Iterator, on_way: deque) -> bool:
        self._make_room()
        core = next(batches, None)
        if core is None:
            self._end = self._core.token()
            return False
        audit = str(super().audit()) if self._ahead else ''
        on_way.append((core.token, audit, self._send(core)))
        return True

    def _hand_over(self, on_way: deque):
        self._given, audit, sent = on_way.popleft()
        self._audited = audit
        return self._receive(sent)

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self._given = self._core.token()

    def audit(self) -> Audit:
        """As recpack_io.Loader.audit(); without counts while batches are on their way."""
        return Audit.parse(self._audited) if self._audited else super().audit()

    def state_dict(self) -> dict:
        return super().state_dict() | {'token': self._given}
