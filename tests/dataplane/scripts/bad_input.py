"""Frames and requests that no client should send: a clear end, and the server goes on."""

import json
import socket
import threading

from common import PATIENCE, PORT, TOKEN, equal, sandbox
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

URL = f"ws://127.0.0.1:{PORT}/api/v2/sandboxes/box/execute/ws"
HEADERS = {"X-Api-Key": TOKEN}


def talk(*frames):
    """Sends frames; what came back, and the code of the close."""
    got = []
    with connect(URL, additional_headers=HEADERS, max_size=None, open_timeout=PATIENCE) as ws:
        try:
            for frame in frames:
                ws.send(frame if isinstance(frame, (str, bytes)) else json.dumps(frame))
        except ConnectionClosed:
            pass  # What came before is still to be read.
        try:
            while True:
                got.append(json.loads(ws.recv(timeout=PATIENCE)))
        except ConnectionClosed as closed:
            return got, closed.rcvd.code if closed.rcvd else None


def error(kind, text, code=1000):
    return [{"type": "error", "error_type": kind, "error": text}], code


for first in ("", "{", "[]", "7", "[" * 100_000):
    equal(talk(first), error("CommandError", "the first frame must be a JSON object"))
kinds = error("CommandError", "the first frame must be of type execute or reconnect")
equal(talk({"type": "input", "data": "x"}), kinds)
equal(talk({"type": "hello"}), kinds)
equal(talk({}), kinds)
equal(talk(b"binary"), ([], 1003))
equal(talk({"type": "execute"}), error("CommandError", "Missing required parameter: command"))
equal(talk({"type": "reconnect", "command_id": "nobody"}), error("CommandNotFound", "No command has this command_id"))
equal(
    talk({"type": "execute", "command": "true", "cwd": ".", "run_config": {}}),
    error("CommandError", "run_config and cwd or env say the same thing twice; send one of them"),
)
equal(
    talk({"type": "execute", "command": "true", "timeout_seconds": -5}),
    error("CommandError", "timeout_seconds must be a positive number"),
)
equal(
    talk({"type": "execute", "command": "true", "command_id": ""}),
    error("CommandError", "command_id must have 1 to 256 bytes"),
)
equal(
    talk({"type": "execute", "command": "true", "shell": "/no/such/shell"})[0][0]["error_type"], "CommandError"
)
equal(talk({"type": "execute", "command": "true\0"})[0][0]["error_type"], "CommandError")

# 16 MiB in one frame, as a first frame and later.
big = {"type": "execute", "command": "x" * (16 << 20)}
got, code = talk(big)
assert got == [] and code in (1009, None), (got, code)
with connect(URL, additional_headers=HEADERS, max_size=None, open_timeout=PATIENCE) as ws:
    ws.send(json.dumps({"type": "execute", "command": "sleep 300", "command_id": "big"}))
    equal(json.loads(ws.recv(timeout=PATIENCE))["type"], "started")
    try:
        ws.send(json.dumps({"type": "input", "data": "x" * (16 << 20)}))
        ws.recv(timeout=PATIENCE)
        raise AssertionError("a frame of 16 MiB was taken")
    except ConnectionClosed as closed:
        # A reset can overtake the close frame: what is left unread in a socket is thrown away with it.
        assert closed.rcvd is None or closed.rcvd.code == 1009, closed

# Later frames of no known kind are passed over.
got, code = talk(
    {"type": "execute", "command": "cat", "command_id": "later"},
    "nonsense", {"type": "what"}, {"type": "input"}, {"type": "resize", "cols": -1, "rows": 0}, "[" * 50_000,
    {"type": "input", "data": "good"}, {"type": "close_stdin"},
)
equal((got[-1], code), ({"type": "exit", "exit_code": 0}, 1000))
equal("".join(frame["data"] for frame in got if frame["type"] == "stdout"), "good")

# Offsets past the end, two readers, a text offset that no character begins at.
equal(
    talk({"type": "reconnect", "command_id": "later", "stdout_offset": 10**12}),
    error("CommandError", "stdout_offset lies past the end of the output"),
)
equal(
    talk({"type": "reconnect", "command_id": "later", "stdout_offset": -1}),
    error("CommandError", "an offset must be a number from 0 up"),
)
box = sandbox()
one = box.run("seq 100000; sleep 0.5; seq 100000", wait=False)
two = box.reconnect(one.command_id)
equal(next(two._stream)["type"], "started")
other = threading.Thread(target=lambda: two.result)
other.start()
equal(len(one.result.stdout), 2 * 588_895)
other.join()
equal(two.result.stdout, one.result.stdout, "two readers")
equal(box.run("echo €", wait=False).result.stdout, "€\n")

# A client that never reads holds up its command, and nobody else; one that answers no ping likewise.
def silent():
    s = socket.create_connection(("127.0.0.1", PORT))
    s.sendall(
        f"GET /api/v2/sandboxes/box/execute/ws HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {TOKEN}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    text = json.dumps({"type": "execute", "command": "yes", "command_id": "silent"}).encode()
    s.sendall(bytes([0x81, 0x80 | len(text)]) + b"\0\0\0\0" + text)
    return s


deaf = silent()
equal(box.run("echo on").stdout, "on\n")
# Half a frame, and gone.
deaf.sendall(bytes([0x81, 0xFE, 0x10, 0x00]) + b"\0\0\0\0" + b"{")
deaf.close()
handle = box.reconnect("silent")
chunk = next(iter(handle))
equal((chunk.offset, chunk.data[:4]), (0, "y\ny\n"))
handle.kill()

# Refused before the upgrade.
for headers, status in (({}, 401), ({"X-Api-Key": "wrong"}, 401), ({**HEADERS, "Origin": "http://page"}, 403)):
    try:
        with connect(URL, additional_headers=headers, open_timeout=PATIENCE):
            raise AssertionError("connected")
    except InvalidStatus as refusal:
        equal(refusal.response.status_code, status)
        equal(set(json.loads(refusal.response.body)["detail"]), {"error", "message", "error_id"})
