"""A link to an object store with a planted cause of slowness: latency, bandwidth, or a limit of requests a second."""
import contextlib
import threading
import time

PIECE = 8192  # bytes that are sent at a time, so that answers under way share the link
BURST = 0.05  # seconds of the limit that may be used at once


class _Bucket:
    """Gives tokens at a rate, in the order of the calls."""

    def __init__(self, rate):
        self.rate, self._lock, self._next = rate, threading.Lock(), time.monotonic()

    def take(self, count):
        """Waits for the tokens."""
        with self._lock:
            self._next = max(self._next, time.monotonic() - BURST) + count / self.rate
            wait = self._next - time.monotonic()
        if wait > 0:
            time.sleep(wait)

    def try_take(self):
        """Takes a token if there is one."""
        with self._lock:
            if self._next > time.monotonic():
                return False
            self._next = max(self._next, time.monotonic() - BURST) + 1 / self.rate
            return True


class Link:
    """How a server answers: seconds before each answer, of so many at a time; bytes a second of all answers together; requests
    a second beyond which the answer is 503. None: no limit."""

    def __init__(self, delay=0.0, at_once=None, bytes_per_second=None, requests_per_second=None):
        self.delay = delay
        self._slots = threading.Semaphore(at_once) if at_once else contextlib.nullcontext()
        self._bytes = _Bucket(bytes_per_second) if bytes_per_second else None
        self._requests = _Bucket(requests_per_second) if requests_per_second else None

    def refuses(self):
        """Waits for the delay; tells whether the request is one too many."""
        with self._slots:
            time.sleep(self.delay)
        return self._requests is not None and not self._requests.try_take()

    def send(self, file, body):
        if self._bytes is None:
            file.write(body)
            return file.flush()
        for begin in range(0, len(body), PIECE):
            piece = body[begin:begin + PIECE]
            self._bytes.take(len(piece))
            file.write(piece)
            file.flush()
        return None
