"""A server that stops tells its clients to come back: by its last event, and by its close code."""

import json
import socket

from common import PATIENCE, PORT, TOKEN, equal
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

body = json.dumps({"command": "echo up; sleep 300", "command_id": "events"}).encode()
events = socket.create_connection(("127.0.0.1", PORT))
events.sendall(
    f"POST /v2/sandboxes/box/execute/stream/start HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {TOKEN}\r\n"
    f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    + body
)
answer = b""
while b"event: stdout" not in answer:
    answer += events.recv(65536)

URL = f"ws://127.0.0.1:{PORT}/v2/sandboxes/box/execute/ws"
with connect(URL, additional_headers={"X-Api-Key": TOKEN}, open_timeout=PATIENCE) as ws:
    ws.send(json.dumps({"type": "execute", "command": "sleep 300"}))
    equal(json.loads(ws.recv())["type"], "started")
    print("attached", flush=True)
    try:
        frame = ws.recv(timeout=PATIENCE)
        raise AssertionError(f"got {frame}")
    except ConnectionClosed as closed:
        equal(closed.rcvd.code, 1001)
while data := events.recv(65536):
    answer += data
last = answer.decode().split("event: ")[-1]
assert last.startswith("error\n") and '"error_type":"ServerShuttingDown"' in last, answer
