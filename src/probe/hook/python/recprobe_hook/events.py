"""Writes the process's event file (docs/format/events.md of Recpack) and its notices.

Writes keep the interpreter lock: if they released it, the program would have to wait for a busy
thread at each record.
"""
import os
import struct
import time
import _thread

STEP, INPUT_WAIT, RANGE = 2, 3, 7
_NAME, _OPEN, _NO_DEVICE = 1, 1, 0xffff
_MAGIC = int.from_bytes(b'RCPKEVT1', 'little')

_HEAD = struct.Struct('<BBHIII')
_TAIL = struct.Struct('<qqQ')
record = struct.Struct('<16sqqQ').pack  # head, begin, end, value
now = time.monotonic_ns  # CLOCK_MONOTONIC
ran = time.thread_time_ns  # CPU time of the calling thread

# Numbers of names: positions in _NAMES, from 1.
(DATA_LOADER, START, TF_DATA, GRAIN, QUEUE, EVALUATION, BACKGROUND, OPTIMIZER, BATCH, KERAS,
 LOCK, STORAGE, DECOMPRESS, DECODE, AUGMENT, FUNCTION, BATCH_WORK, OTHER_WORK,
 IDLE, RANK, SETTINGS, EXCHANGE) = range(1, 23)
SETTINGS_PLACE = 900  # its name has the place, and is told with it
WAITS = range(DATA_LOADER, EVALUATION + 1)
WORK = range(STORAGE, IDLE + 1)  # kinds of work of input threads
OWN_WORK = 23 - STORAGE  # from such a kind to the same of the training thread, but for IDLE
PARENT = 30
_NAMES = ('DataLoader', 'iter(DataLoader)', 'tf.data', 'Grain', 'queue', 'evaluation',
          'input in a background thread', 'optimizer', 'batch', 'Keras', 'interpreter lock',
          'input: storage', 'input: decompression', 'input: decode', 'input: augment',
          'input: user function', 'input: batch function', 'input: other', 'input: waiting',
          'rank', 'input settings', 'gradient exchange', 'input: own storage',
          'input: own decompression', 'input: own decode', 'input: own augment',
          'input: own user function', 'input: own batch function', 'input: own other',
          'parent process')


def _write_function():
    try:
        import ctypes
        write = ctypes.PyDLL(None).write
        write.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
        write.restype = ctypes.c_ssize_t
        return write
    except Exception:  # an interpreter without ctypes
        return _os_write


def _os_write(file, data, size):
    try:
        return os.write(file, data)
    except OSError:
        return -1


class _State:
    """State of this process. A forked child resets it."""
    folder = ''
    file = -1
    named = False
    lost = False
    write = None
    lock = _thread.allocate_lock()  # guards the first write
    notices = set()


_state = _State()


def start(folder):
    """Opens the file at once, as its existence shows that the process is hooked."""
    _state.folder = folder
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(after_in_child=_after_fork)
    _open()


def _after_fork():
    if _state.file >= 0:
        try:
            os.close(_state.file)
        except OSError:
            pass
    _state.file = -1
    _state.named = _state.lost = False
    _state.lock = _thread.allocate_lock()
    _state.notices = set()


def _path(ending):
    return '%s/%d-python.%s' % (_state.folder, os.getpid(), ending)


def _open():
    try:
        file = os.open(_path('events'),
                       os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        _state.lost = True
        return
    _state.file = out_of_the_way(file)
    _put(_HEAD.pack(0, 0, _NO_DEVICE, os.getpid(), 0, 0) + _TAIL.pack(now(), 0, _MAGIC))


def out_of_the_way(file):
    """Moves the file to a high descriptor, as programs may close and reuse unknown low ones."""
    try:
        import fcntl
        high = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 500)
    except Exception:
        return file
    os.close(file)
    return high


def _put(data):
    if _os_write(_state.file, data, len(data)) != len(data):
        _lose()


def _lose():
    """Stops writing, as records after a partial one could not be read. Creates an empty file to
    report it, which works even on a full disk."""
    _state.lost = True
    try:
        os.close(os.open(_path('lost'), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        pass


def _begin():
    if _state.file < 0:
        _open()
    if _state.write is None:
        _state.write = _write_function()
    if not _state.lost:
        data = b''
        for number, name in enumerate(_NAMES, 1):
            data += name_records(number, name)
        _put(data)
    _state.named = True


def write(records):
    """Writes whole records in one call. After a failed write, all later records are lost."""
    if not _state.named:
        with _state.lock:
            if not _state.named:
                _begin()
    if not _state.lost:
        written = _state.write(_state.file, records, len(records))
        if written < 0:  # a signal may have interrupted it before anything was written
            written = _os_write(_state.file, records, len(records))
        if written != len(records):
            _lose()


def name_records(number, text):
    """Returns the records that give a name its number."""
    data = text.encode('utf-8', 'replace')
    return b''.join(_HEAD.pack(_NAME, len(data[at:at + 24]), _NO_DEVICE, 0, number, 0) +
                    data[at:at + 24].ljust(24, b'\0') for at in range(0, len(data), 24))


def record_head(kind, flags, lane, name):
    return _HEAD.pack(kind, flags, _NO_DEVICE, lane, name, 0)


class Lane:
    """Record heads of one thread."""

    def __init__(self, thread):
        self.steps = {name: record_head(STEP, 0, thread, name)
                      for name in (OPTIMIZER, BATCH, KERAS)}
        self.waits = {name: record_head(INPUT_WAIT, 0, thread, name) for name in WAITS}
        self.open_waits = {name: record_head(INPUT_WAIT, _OPEN, thread, name) for name in WAITS}
        self.background = record_head(RANGE, 0, thread, BACKGROUND)


def notice(text):
    """Writes a line for the reader of the events: what the hook cannot see, or where it failed.
    Writes each text once."""
    if text in _state.notices or not _state.folder:
        return
    _state.notices.add(text)
    try:
        file = os.open(_path('notice'), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC,
                       0o600)
        try:
            os.write(file, (' '.join(text.split()) + '\n').encode('utf-8', 'replace'))
        finally:
            os.close(file)
    except OSError:
        pass
