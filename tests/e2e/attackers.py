"""Clients without the password, from addresses of 127.0.0.0/8: guessers that keep their connections, and TLS handshakes
that are begun and left there. A program of its own, so that it takes no time of whoever measures:
   attackers.py PORT GUESSERS HALF_OPEN [SOURCE_ADDRESS]
Until SIGTERM; then prints as JSON how often what was answered."""
import asyncio
import base64
import collections
import contextlib
import itertools
import json
import resource
import signal
import ssl
import subprocess
import sys
import time

from harness import end

GUESSES_PER_SECOND = 2  # of each guesser, where it is answered at once
GUESSES_PER_CONNECTION = 50
HANDSHAKES_PER_SECOND = 100  # of all that are left half-open
USERS = ("prometheus", "admin", "root")  # the first one exists


class Attackers(contextlib.AbstractContextManager):
    """The program below; `answers` afterwards: {status or "closed" or "half-open": how often}."""

    def __init__(self, port, guessers, half_open, source_address=""):
        self.arguments = [str(port), str(guessers), str(half_open), source_address]
        self.process, self.answers = None, {}

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, __file__, *self.arguments], stdout=subprocess.PIPE)
        return self

    def cpu_seconds(self):
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.answers = json.loads(self.process.communicate(timeout=30)[0] or "{}")
        finally:
            end(self.process)


def addresses(fixed):
    """Of one host in a neighbourhood after the other; of the only one where it is fixed."""
    return itertools.repeat(fixed) if fixed else (f"127.0.{i // 200 % 200}.{2 + i % 200}" for i in itertools.count(200))


def anybody():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def client_hello():
    """The first flight of a handshake."""
    into = ssl.MemoryBIO()
    tls = anybody().wrap_bio(ssl.MemoryBIO(), into)
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return into.read()


async def answer_status(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))
    return head.split(b" ", 2)[1].decode()


async def guess(port, address, answers, numbers):
    context = anybody()
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, local_addr=(address, 0))
            try:
                for _ in range(GUESSES_PER_CONNECTION):
                    number = next(numbers)
                    token = base64.b64encode(f"{USERS[number % len(USERS)]}:guess{number}".encode())
                    writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Basic " + token + b"\r\n\r\n")
                    answers[await answer_status(reader)] += 1
                    await asyncio.sleep(1 / GUESSES_PER_SECOND)
            finally:
                writer.transport.abort()
        except (OSError, EOFError, asyncio.IncompleteReadError):
            answers["closed"] += 1
            await asyncio.sleep(1 / GUESSES_PER_SECOND)


async def half_open(port, address, answers, words, turn):
    """Begins a handshake and says no more, until the other side has had enough of it."""
    while True:
        async with turn:
            await asyncio.sleep(1 / HANDSHAKES_PER_SECOND)
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            answers["half-open"] += 1
            try:
                writer.write(words)
                while await reader.read(4096):
                    pass
            finally:
                writer.transport.abort()


async def attack(port, guessers, handshakes, source_address):
    answers, numbers, turn = collections.Counter(), itertools.count(), asyncio.Lock()
    hello, stop = client_hello(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    source = addresses(source_address)
    tasks = [asyncio.create_task(guess(port, next(source), answers, numbers)) for _ in range(guessers)]
    # One half waits for the server's flight and takes it, the other has not said all of its own.
    tasks += [asyncio.create_task(half_open(port, next(source), answers, hello[:5] if i % 2 else hello, turn))
              for i in range(handshakes)]
    stopped = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([stopped, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done - {stopped}:
        task.result()  # none of them ends but by an error
    print(json.dumps(answers))


if __name__ == "__main__":
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(attack(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
