"""Commands from start to end, the same over both transports."""

import json
import os

from common import BASE, equal, raises, request, sandbox
from langsmith.sandbox import CommandTimeoutError, SandboxOperationError

box = sandbox()
equal((box.name, box.status), ("box", "ready"))

result = box.run("echo out; echo err >&2; exit 3")
equal((result.stdout, result.stderr, result.exit_code), ("out\n", "err\n", 3))
equal(box.run("pwd; echo $A", env={"A": "ä b"}).stdout, f"{BASE}\nä b\n")
equal(box.run("mkdir d; cd d; pwd").stdout, f"{BASE}/d\n")
body = {"command": "pwd; echo $A", "run_config": {"user": str(os.geteuid()), "work_dir": "d", "env_vars": {"A": "b"}}}
status, answer = request("POST", "/api/v2/sandboxes/box/execute", json.dumps(body).encode())
equal((status, json.loads(answer)["stdout"]), (200, f"{BASE}/d\nb\n"))
equal(box.run("pwd", cwd="d").stdout, f"{BASE}/d\n")
equal(box.run("cat; echo done", timeout=60).stdout, "done\n", "input is at its end")
equal(box.run("no_such_program").exit_code, 127)
equal(box.run("kill -9 $$").exit_code, -9)

seen = []
result = box.run(
    "for i in 1 2 3; do echo $i; sleep 0.05; done; echo e >&2",
    on_stdout=lambda text: seen.append(("out", text)),
    on_stderr=lambda text: seen.append(("err", text)),
)
equal("".join(text for kind, text in seen if kind == "out"), "1\n2\n3\n")
equal("".join(text for kind, text in seen if kind == "err"), "e\n")

# Output comes when it is printed: the command goes on only once it has been seen.
waits = "until [ -e seen{} ]; do sleep 0.02; done"
handle = box.run(f"echo a; {waits.format(0)}; echo b >&2; {waits.format(1)}; echo c", wait=False)
chunks = []
for chunk in handle:
    with open(f"{BASE}/seen{len(chunks)}", "w"):
        chunks.append((chunk.stream, chunk.data))
equal(chunks, [("stdout", "a\n"), ("stderr", "b\n"), ("stdout", "c\n")])
equal(handle.result.exit_code, 0)

# 3 MB of one line, of zeros that escape to six bytes each, of characters that every cut goes through.
equal(box.run("head -c 3000000 /dev/zero | tr '\\0' x").stdout, "x" * 3_000_000, "one line")
equal(box.run("head -c 3000000 /dev/zero").stdout, "\0" * 3_000_000, "zeros")
text = "".join(f"{n}€😀é" for n in range(60_000))
with open(f"{BASE}/text", "w") as file:
    file.write(text)
equal(box.run("cat text").stdout, text, "text")
equal(box.run("for b in 342 202 254 303 251; do printf \"\\\\$b\"; sleep 0.03; done").stdout, "€é", "slow bytes")
equal(box.run("printf 'a\\377b\\342\\202'").stdout, "a\ufffdb\ufffd", "bytes that are no text")

# Both streams at once, much more than fits any buffer.
result = box.run("seq 200000 & seq 200000 >&2; wait")
numbers = "".join(f"{n}\n" for n in range(1, 200_001))
equal(result.stdout, numbers, "stdout")
equal(result.stderr, numbers, "stderr")

raises(CommandTimeoutError, box.run, "sleep 30", timeout=1)
error = raises(SandboxOperationError, lambda: box.reconnect("nobody").result)
equal(error.error_type, "CommandNotFound")

# Once more from the beginning, after the end.
handle = box.run("echo again", wait=False)
equal(handle.result.stdout, "again\n")
equal(box.reconnect(handle.command_id).result.stdout, "again\n")
equal(box.reconnect(handle.command_id, stdout_offset=2).result.stdout, "ain\n")
