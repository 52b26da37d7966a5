"""Many streams through one tunnel, much through one stream, and ports that cannot be reached."""

import os
import socket
import threading

from common import FULL, PATIENCE, PORT, TOKEN, closed_port, digest, equal, sandbox
from langsmith.sandbox._tunnel import _read_status, _write_connect_header
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

box = sandbox()
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
port = listener.getsockname()[1]


def echo(peer):
    try:
        while data := peer.recv(65536):
            peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def accept():
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=echo, args=(peer,), daemon=True).start()


def through(local, data):
    with socket.create_connection(("127.0.0.1", local)) as s:
        threading.Thread(target=s.sendall, args=(data,), daemon=True).start()
        got = bytearray()
        while len(got) < len(data):
            piece = s.recv(65536)
            assert piece, f"ended after {len(got)} of {len(data)} bytes"
            got += piece
    equal(digest(got), digest(data), "what came back")


threading.Thread(target=accept, daemon=True).start()
closed = closed_port()
local = closed_port()
# The client binds its listener beside it.
with box.tunnel(port, local_port=local.getsockname()[1]) as tunnel:
    faults = []

    def one(number):
        try:
            through(tunnel.local_port, os.urandom(50_000 + number))
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(faults, [])
    # And again: the slots of ended streams are free.
    for _ in range(200):
        through(tunnel.local_port, b"again")
    through(tunnel.local_port, os.urandom(100_000_000 if FULL else 5_000_000))

    # Ports: denied, below 1024, ours, closed; and another version.
    session = tunnel._ensure_session()
    for wanted, status in ((5432, 1), (80, 1), (0, 1), (PORT, 1), (closed.getsockname()[1], 2)):
        stream = session.open_stream()
        _write_connect_header(stream, wanted)
        equal(_read_status(stream), status, wanted)
        stream.close()
    stream = session.open_stream()
    stream.write(b"\x02\x04\x00")
    equal(_read_status(stream), 3)
    through(tunnel.local_port, b"still alive")

# One port to a socket, without a multiplexer.
url = f"ws://127.0.0.1:{PORT}/api/v2/sandboxes/box/tunnel"
with connect(url, additional_headers={"X-Api-Key": TOKEN, "X-Sandbox-Port": str(port)}, open_timeout=PATIENCE) as ws:
    ws.send(b"raw")
    equal(ws.recv(), b"raw")
for wanted, status in (("5432", 403), (str(PORT), 403), ("x", 400), (str(closed.getsockname()[1]), 404)):
    try:
        with connect(url, additional_headers={"X-Api-Key": TOKEN, "X-Sandbox-Port": wanted}, open_timeout=PATIENCE):
            raise AssertionError("connected")
    except InvalidStatus as refusal:
        equal(refusal.response.status_code, status, wanted)
