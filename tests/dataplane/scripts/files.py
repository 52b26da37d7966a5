"""Files up and down, ranges, searches, and paths that leave."""

import json
import os
import socket
import time

from common import BASE, FULL, PORT, TOKEN, digest, equal, eventually, raises, request, sandbox
from langsmith.sandbox import ResourceNotFoundError, SandboxClientError, SandboxOperationError

box = sandbox()
DOOR = "/api/v2/sandboxes/box"

box.write("deep/er/Bericht 报告.txt", "hällo")
equal(box.read("deep/er/Bericht 报告.txt"), "hällo".encode())
stat = box.stat("deep/er/Bericht 报告.txt")
equal(stat.size_bytes, 6)
assert stat.etag.startswith('"') and stat.last_modified.endswith("GMT")

part = box.read_range("deep/er/Bericht 报告.txt", start=1, end=2)
equal((part.content, part.start, part.total_bytes, part.partial), ("ä".encode(), 1, 6, True))
equal(box.read_range("deep/er/Bericht 报告.txt", suffix_bytes=2).content, b"lo")
assert box.read_range("deep/er/Bericht 报告.txt", start=0, if_none_match=stat.etag).unchanged
equal(box.read_range("deep/er/Bericht 报告.txt", start=3, if_range=stat.etag).content, b"llo")
box.write("deep/er/Bericht 报告.txt", "another")
whole = box.read_range("deep/er/Bericht 报告.txt", start=3, if_range=stat.etag)
equal((whole.content, whole.partial), (b"another", False))
raises(SandboxOperationError, box.read_range, "deep/er/Bericht 报告.txt", start=100)
raises(ResourceNotFoundError, box.read, "nope")
raises(ResourceNotFoundError, box.stat, "nope")
raises(SandboxClientError, box.read, "deep")
box.write("empty", b"")
equal((box.read("empty"), box.stat("empty").size_bytes), (b"", 0))

found = box.glob("**/*.txt", BASE)
equal([(hit.path, hit.is_dir, hit.size_bytes) for hit in found], [(f"{BASE}/deep/er/Bericht 报告.txt", False, 7)])
equal([hit.path for hit in box.ls(BASE)], [f"{BASE}/deep", f"{BASE}/empty"])
assert box.glob("**", BASE, limit=1).truncated
hits = box.grep("other", BASE, glob="*.txt")
equal([(hit.path, hit.line, hit.text) for hit in hits.matches], [(f"{BASE}/deep/er/Bericht 报告.txt", 1, "another")])
equal(box.grep("[a-z]", BASE).matches, [], "text, not an expression")

# Much at once.
size = (1 << 30) if FULL else (48 << 20)
block = os.urandom(1 << 20)
content = b"".join(block[at % 997 :] + block[: at % 997] for at in range(size >> 20))
begun = time.monotonic()
box.write("big", content, timeout=600)
sent = time.monotonic()
equal(digest(box.read("big", timeout=600)), digest(content))
print(f"{size >> 20} MiB: up in {sent - begun:.1f} s, down and compared in {time.monotonic() - sent:.1f} s")
os.remove(f"{BASE}/big")
# Beyond the limit of an upload: refused, with a reason, and nothing stays.
del content
raises(SandboxClientError, box.write, "big", bytes((1 << 30) + (1 << 20)) if FULL else bytes(50 << 20), timeout=600)
assert not os.path.exists(f"{BASE}/big")

# 10 GiB that hardly exist.
with open(f"{BASE}/sparse", "wb") as file:
    file.truncate(10 << 30)
    file.seek(7_000_000_000)
    file.write(b"needle")
equal(box.stat("sparse").size_bytes, 10 << 30)
part = box.read_range("sparse", start=6_999_999_999, end=7_000_000_006)
equal((part.content, part.total_bytes), (b"\0needle\0", 10 << 30))
os.remove(f"{BASE}/sparse")

# An upload that is cut anywhere leaves the old file and nothing else.
box.write("kept", "old")
before = sorted(os.listdir(BASE))
head = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
body = head + b"n" * 20_000 + b"\r\n--xx--\r\n"
for point in range(100):
    sent = body[: point * (len(body) - 5) // 99]  # up to the middle of the last boundary
    with socket.create_connection(("127.0.0.1", PORT)) as s:
        s.sendall(
            f"POST {DOOR}/upload?path=kept HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {TOKEN}\r\n"
            f"Content-Type: multipart/form-data; boundary=xx\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + sent
        )
        s.shutdown(socket.SHUT_WR)
        try:
            s.recv(65536)
        except ConnectionError:
            pass  # Cut from the other side as well.
equal(box.read("kept"), b"old")
eventually(lambda: sorted(os.listdir(BASE)) == before, f"only {before} is left")

# A part whose head never ends.
status, answer = request(
    "POST",
    f"{DOOR}/upload?path=kept",
    b"--xx\r\nX: " + b"y" * 8_000_000,
    {"Content-Type": "multipart/form-data; boundary=xx"},
)
assert status is None or status == 400 and b"too long" in answer, answer
equal(box.read("kept"), b"old")

# Out through every door.
os.symlink("/etc", f"{BASE}/link")
with open(f"{BASE}/../canary", "w") as file:
    file.write("canary")
for path in ("/etc/passwd", "../canary", "link/passwd", f"{BASE}/../canary", "/proc/self/environ", "deep/../../canary"):
    raises(SandboxOperationError, box.read, path)
    raises(SandboxOperationError, box.write, path, "x")
    raises(SandboxOperationError, box.read_range, path, start=0)
    raises((SandboxOperationError, SandboxClientError), box.glob, "*", os.path.dirname(path) or "/")
    raises((SandboxOperationError, SandboxClientError), box.grep, "x", os.path.dirname(path) or "/")
    for body in ({"cwd": os.path.dirname(path)}, {"run_config": {"work_dir": os.path.dirname(path)}}):
        status, answer = request("POST", f"{DOOR}/execute", json.dumps({"command": "true", **body}).encode())
        equal((status, "canary" in answer.decode()), (403, False), (path, answer))
with open(f"{BASE}/../canary") as file:
    equal(file.read(), "canary")
