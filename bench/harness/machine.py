"""The machine that figures are from, and its page cache."""
import datetime
import os
import pathlib
import platform
import re
import subprocess

SIMD = ('avx2', 'avx512f', 'avx512_vnni', 'avx512_bf16', 'amx_tile')  # that kernels are chosen by
DROP = pathlib.Path('/proc/sys/vm/drop_caches')


def first_line(*command: str) -> str:
    """What a program says of its version; 'unavailable: reason' if it does not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f'unavailable: {error}'
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else 'unavailable: no output'


def _field(path: str, pattern: str) -> str:
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding='utf-8'), re.MULTILINE)
    except OSError as error:
        return f'unavailable: {error}'
    return found.group(1).strip() if found else f'unavailable: not in {path}'


def describe(folder: pathlib.Path) -> dict:
    """Processor, cores, memory, kernel, and the file system that `folder` is on."""
    flags = _field('/proc/cpuinfo', r'^flags\s*:(.*)$').split()
    memory = _field('/proc/meminfo', r'^MemTotal:\s*(\d+) kB')
    return {
        'cpu': _field('/proc/cpuinfo', r'^model name\s*:(.*)$'),
        'cores': len(os.sched_getaffinity(0)),
        'avx512': 'avx512f' in flags,
        'simd': [flag for flag in SIMD if flag in flags],
        'memory_gib': round(int(memory) / 2**20, 1) if memory.isdigit() else memory,
        'kernel': platform.release(),
        'system': _field('/etc/os-release', r'^PRETTY_NAME="?([^"\n]*)'),
        'python': platform.python_version(),
        'compiler': first_line('g++', '--version'),
        'file_system': first_line('stat', '-f', '-c', '%T', str(folder)),
    }


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds')


def _forget(path: pathlib.Path) -> None:
    with open(path, 'rb') as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def drop_cache(paths: list[pathlib.Path]) -> str:
    """Makes the files below `paths` cold; returns how. Names and inodes stay warm with fadvise."""
    os.sync()
    try:
        DROP.write_text('3\n', encoding='ascii')
        return 'drop_caches'
    except OSError:
        pass
    for top in paths:
        for path in [top] if top.is_file() else top.rglob('*'):
            if path.is_file():
                _forget(path)
    return 'posix_fadvise(DONTNEED) on each file; names and inodes stay cached'


def warm_cache(top: pathlib.Path) -> None:
    """Reads a file, or all files of a folder, so that the page cache holds them if it can."""
    buffer = bytearray(1 << 20)
    for path in [top] if top.is_file() else top.rglob('*'):
        if path.is_file():
            with open(path, 'rb', buffering=0) as file:
                while file.readinto(buffer):
                    pass
