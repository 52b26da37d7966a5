"""What every script shares: the client, a proxy that cuts, and a plain socket to the server."""

import hashlib
import os
import socket
import sys
import threading
import time

from langsmith.sandbox import SandboxClient

PORT = int(sys.argv[1])
BASE = sys.argv[2]
TOKEN = os.environ["DATAPLANE_TOKEN"]
FULL = "FULL_COUNTS" in os.environ
# Seconds that anything that must happen is waited for: a busy machine may stand still for long.
PATIENCE = 90


def sandbox(port=PORT):
    client = SandboxClient(
        api_endpoint=f"http://127.0.0.1:{port}/api/v2/sandboxes", api_key=TOKEN, timeout=float(PATIENCE)
    )
    return client.get_sandbox("box")


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what}: got {short(got)}, wanted {short(wanted)}")


def short(value):
    text = repr(value)
    return text if len(text) < 300 else f"{text[:150]}…{text[-100:]} ({len(value)} long)"


def eventually(holds, what):
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, f"never: {what}"
        time.sleep(0.02)


def closed_port():
    """A socket whose port takes no connection for as long as it is held: it is bound, and does not listen."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


def digest(data):
    return hashlib.sha256(data).hexdigest()


def raises(kind, what, *args, **kwargs):
    try:
        got = what(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"{what} gave {short(got)} instead of {kind}")


class CuttingProxy:
    """Forwards connections, and cuts the newest on request with everything that is on its way."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = []
        self.cuts = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            inner, _ = self.listener.accept()
            outer = socket.create_connection(("127.0.0.1", PORT))
            self.pairs.append((inner, outer))
            for a, b in ((inner, outer), (outer, inner)):
                threading.Thread(target=self.forward, args=(a, b), daemon=True).start()

    @staticmethod
    def forward(source, target):
        try:
            while data := source.recv(16384):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.cuts += 1
        for end in self.pairs[-1]:
            try:
                # A reset: what lies in the buffers is lost.
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def request(method, path, body=b"", headers=None):
    """One request by hand; its status and body, or `None` where the server hung up."""
    with socket.create_connection(("127.0.0.1", PORT)) as s:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"X-Api-Key: {TOKEN}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        answer = b""
        try:
            s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            while data := s.recv(65536):
                answer += data
        except ConnectionError:
            pass  # A server that has answered need not read on; what it said may have been lost with the rest.
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else None, body
