"""One command, several callers: started on events and gone on with over a socket, and twenty starts with one id."""

import base64
import json
import os
import threading

from common import BASE, equal, request, sandbox

SSE = {"LANGSMITH_EXPERIMENTAL_FEATURES": "sandbox_sse_exec"}
START = "/api/v2/sandboxes/box/execute/stream/start"
RESUME = "/api/v2/sandboxes/box/execute/stream/resume"


def events(path, body):
    status, answer = request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    equal(status, 200, answer)
    # Chunked: the frames of the transfer are lines of their own.
    lines = answer.decode().split("\n")
    found, name = [], None
    for line in lines:
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            found.append((name, json.loads(line[6:])))
    return found


def text(found, stream):
    return b"".join(base64.b64decode(data["data"]) for name, data in found if name == stream)


# From events to a socket, past a byte that is no text and counts three bytes there.
box = sandbox()
os.environ.update(SSE)
handle = box.run("printf 'a\\377€'; sleep 1; echo more", wait=False)
equal(next(iter(handle)).data, "a\ufffd€")
del os.environ["LANGSMITH_EXPERIMENTAL_FEATURES"]
equal(handle.reconnect().result.stdout, "more\n")
equal(text(events(START, {"command": "printf 'a\\377€'; sleep 0.3; echo more", "command_id": "both"}), "stdout"), b"a\xff\xe2\x82\xacmore\n")
equal(box.reconnect("both").result.stdout, "a\ufffd€more\n")
equal(box.reconnect("both", stdout_offset=len("a\ufffd".encode())).result.stdout, "€more\n")
raw = events(RESUME, {"command_id": "both", "stdout_offset": 2, "stderr_offset": 0})
equal(text(raw, "stdout"), "€more\n".encode())
# The bytes before were acknowledged, so they are gone; the text goes on counting as before.
equal(box.reconnect("both", stdout_offset=len("a\ufffd€".encode())).result.stdout, "more\n")
equal(box.reconnect("both").result.stdout, "€more\n")

# From a socket to events.
handle = box.run("echo eins; sleep 0.5; echo zwei", wait=False)
equal(next(iter(handle)).data, "eins\n")
found = events(RESUME, {"command_id": handle.command_id, "stdout_offset": 5, "stderr_offset": 0})
equal(text(found, "stdout"), b"zwei\n")
equal([name for name, _ in found], ["started", "stdout", "stream_end", "stream_end", "exit"])

# Twenty at once.
answers = []
body = {"command": "echo x >> once; sleep 0.3; echo $$", "command_id": "twenty"}
threads = [threading.Thread(target=lambda: answers.append(events(START, body))) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
equal(len(answers), 20)
equal({found[0][1]["pid"] for found in answers}, {answers[0][0][1]["pid"]})
equal(len({text(found, "stdout") for found in answers}), 1)
with open(f"{BASE}/once") as file:
    equal(file.read(), "x\n")
equal(text(events(START, body), "stdout"), text(answers[0], "stdout"), "after the end")

# Offsets past the end.
for path, name in ((RESUME, "stdout_offset"), (RESUME, "stderr_offset")):
    status, answer = request("POST", path, json.dumps({"command_id": "twenty", name: 10**9}).encode())
    equal((status, json.loads(answer)["code"]), (409, "conflict"))

# Input that is written once.
found = events(START, {"command": ["cat"], "stdin": base64.b64encode(b"\0\xff once").decode()})
equal(text(found, "stdout"), b"\0\xff once")

# 3 MB without an acknowledgement: paused at the buffer, not cut, and complete in the end.
got, offsets = b"", (0, 0)
found = events(START, {"command": "head -c 3000000 /dev/zero", "command_id": "paused"})
rounds = 1
while found[-1][0] == "ack_required":
    got += text(found, "stdout")
    equal(found[-1][1]["stdout_offset"], len(got))
    found = events(RESUME, {"command_id": "paused", **found[-1][1]})
    rounds += 1
got += text(found, "stdout")
equal((found[-1][0], len(got)), ("exit", 3_000_000))
assert rounds >= 3, rounds
