#!/usr/bin/env python3
"""Holds every #include of the project to docs/layers.txt. Prints FILE:LINE: REASON a violation.

usage: check_layers.py ROOT      exits 0 (none), 1 (violations) or 2 (layers.txt is wrong)
"""

import os.path
import pathlib
import re
import sys
from dataclasses import dataclass, field

SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
FOLDERS = ("include", "src", "kernels", "tools", "python")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Private, but open to all modules.
OPEN_PRIVATE = {"src/base/format.h", "src/base/parse_units.h", "src/base/spool_file.h", "src/base/wire.h",
                "src/base/wire_reader.h"}
# Headers of C, POSIX, Linux and the compilers; the C++ standard's own have no suffix.
SYSTEM = re.compile(
    r"^(sys|linux|asm|arpa|netinet|net)/"
    r"|^(aio|assert|cpuid|ctype|dirent|dlfcn|errno|fcntl|fenv|float|fnmatch|getopt|glob|inttypes|limits"
    r"|locale|math|mntent|netdb|poll|pthread|pwd|sched|semaphore|setjmp|signal|spawn|stdalign"
    r"|stdarg|stddef|stdint|stdio|stdlib|string|strings|syscall|termios|time|ucontext|unistd"
    r"|wchar|arm_acle|arm_neon|(imm|nmm|emm|smm|tmm|pmm|wmm|xmm|x86)intrin|x86gprintrin)\.h$"
)


@dataclass
class Module:
    may_include: set = field(default_factory=set)  # "base" or "loader/batch.h"
    owns: tuple = ()  # prefixes of third-party headers
    rooms: dict = field(default_factory=dict)  # by folder below the module: the rooms it may include

    def room_of(self, path):
        """The room that a source file lies in, or "" for the module's own folder."""
        parts = pathlib.PurePosixPath(path).parts[1:-1]  # "src" or "python" is left out
        folder = "/".join(parts[1:] if path.startswith("src/") else parts)
        return folder if folder in self.rooms else ""


def read_layers(text):
    """The modules by name. Raises ValueError that names the line."""
    modules = {}
    shared = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, rest = line.partition(":")
        if not colon:
            raise ValueError(f"layers.txt:{number}: no colon")
        if name == "shared":
            shared.append((number, *rest.split()))
            continue
        ours, _, third = rest.partition("|")
        module, _, room = name.strip().partition("/")
        if not room:
            modules[module] = Module(set(ours.split()), tuple(third.split()))
        elif module not in modules:
            raise ValueError(f"layers.txt:{number}: no module {module}")
        else:
            add_room(modules[module].rooms, room, ours.split(), number)
    for number, name, prefix in shared:
        if name not in modules:
            raise ValueError(f"layers.txt:{number}: no module {name}")
        modules[name].owns += (prefix,)
    for name, module in modules.items():
        for other in module.may_include:
            if other.split("/")[0] not in modules:
                raise ValueError(f"layers.txt: {name} may include {other}, which is no module")
    return modules


def add_room(rooms, room, may_include, number):
    """Rooms include those listed before them: so no two include each other."""
    for other in may_include:
        if other not in rooms:
            raise ValueError(f"layers.txt:{number}: {room} may include {other}, which is not above it")
    rooms[room] = set(may_include)


def module_of(path):
    """The module that a file of the project belongs to (its path is relative to the root)."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "include":
        return parts[2] if len(parts) > 3 else None  # include/recpack/MODULE/x.h
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else None
    return parts[0]


def own_target(root, path, name):
    """The project's file that `#include "name"` in `path` means, or None."""
    if name.startswith("recpack/"):
        return "include/" + name
    for folder in (os.path.dirname(path), ""):
        candidate = os.path.normpath(os.path.join(folder, name))
        if (root / candidate).is_file():
            return candidate
    return None


def judge_room(module, path, target):
    """Why `path` must not include `target` of the same module, or None."""
    folder = pathlib.PurePosixPath(path).parts[0]
    if folder not in ("src", "python") or not target.startswith(folder + "/"):
        return None
    room, other = module.room_of(path), module.room_of(target)
    if other == room or not other or not room or other in module.rooms[room]:
        return None
    return f"{room} may not include the room {other}: {target}"


def is_open(root, module):
    """Whether a module is not installed, so that its headers lie beside its sources."""
    return not (root / "include/recpack" / module).is_dir()


def judge_own(root, modules, module, path, target):
    """Why `path` must not include the project's own `target`, or None."""
    other = module_of(target)
    public = target.startswith("include/") or target.startswith("kernels/")
    if path.startswith("include/") and not public:
        return f"a public header includes the private header {target}"
    if other == module:
        return judge_room(modules[module], path, target)
    if target in OPEN_PRIVATE:
        return None
    if not public and not is_open(root, other):
        return f"{module} includes a private header of {other}: {target}"
    header = f"{other}/{pathlib.PurePosixPath(target).name}"
    if other in modules[module].may_include or header in modules[module].may_include:
        return None
    return f"{module} may not include {other}: {target}"


def judge_third_party(modules, module, path, name):
    """Why `path` must not include the header `name` from outside the project, or None."""
    if "." not in name and "/" not in name or SYSTEM.search(name):
        return None
    owners = [m for m in modules if any(name.startswith(p) for p in modules[m].owns)]
    if path.startswith("include/"):
        return f"a public header includes a third party: {name}"
    if module in owners:
        return None
    if owners:
        return f"{name} belongs to {' and '.join(owners)}, not to {module}"
    return f"{name} is owned by no module: docs/layers.txt must say whose it is"


def check_line(root, modules, path, line):
    match = INCLUDE.match(line)
    if not match:
        return None
    bracket, name = match.groups()
    module = module_of(path)
    if module not in modules:
        return f"docs/layers.txt has no module {module}"
    target = own_target(root, path, name) if bracket == '"' or name.startswith("recpack/") else None
    if target:
        return judge_own(root, modules, module, path, target)
    return judge_third_party(modules, module, path, name)


def violations(root, modules):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(file.read_text().splitlines(), 1):
                reason = check_line(root, modules, path, line)
                if reason:
                    yield f"{path}:{number}: {reason}"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    try:
        modules = read_layers((root / "docs/layers.txt").read_text())
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    found = list(violations(root, modules))
    print("\n".join(found) if found else "every #include keeps to docs/layers.txt")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
