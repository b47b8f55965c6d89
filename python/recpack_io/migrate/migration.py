"""Migration: a changed program, and what is said of the change."""
from __future__ import annotations

import dataclasses
import difflib


@dataclasses.dataclass
class Migration:
    """Result of migrate().

    Args:
        text: The changed program; the given one if nothing can be changed.
        done: What was changed, a line each: "12: ImageFolder -> recpack_io.open()".
        notes: What to know of the changes.
        left: What was left as it is, a line each, with the reason and what to do.
    """

    text: str
    done: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    left: list[str] = dataclasses.field(default_factory=list)

    def diff(self, before: str, name: str) -> str:
        """Returns the change as `diff -u` prints it.

        Args:
            before: The program that was given.
            name: Its path.
        """
        return ''.join(difflib.unified_diff(before.splitlines(True), self.text.splitlines(True),
                                            name, name))


class Left(Exception):
    """Something that is left as it is: the reason, and what to do."""


def add_note(result: Migration, note: str) -> None:
    """Adds a note, unless it is there already."""
    if note not in result.notes:
        result.notes.append(note)


def add_left(result: Migration, line: str) -> None:
    """Adds what is left, unless it is there already."""
    if line not in result.left:
        result.left.append(line)
