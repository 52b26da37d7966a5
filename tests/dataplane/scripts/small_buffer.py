"""A buffer of 64 KiB: the command waits for its reader again and again, and is never cut."""

import time

from common import BASE, equal, sandbox

box = sandbox()
numbers = "".join(f"{n}\n" for n in range(1, 300_001))
equal(box.run("seq 300000").stdout, numbers, "a fast reader")

handle = box.run("seq 300000; echo end >&2", wait=False)
parts = {"stdout": [], "stderr": []}
for count, chunk in enumerate(handle):
    parts[chunk.stream].append(chunk.data)
    if count % 10 == 0:
        time.sleep(0.01)
equal("".join(parts["stdout"]), numbers, "a slow reader")
equal("".join(parts["stderr"]), "end\n")

# Nobody reads for a while; the command waits.
handle = box.run("seq 300000; date +%s%N > ended", wait=False)
time.sleep(1)
resumed = time.time_ns()
equal(handle.result.stdout, numbers)
with open(f"{BASE}/ended") as file:
    assert int(file.read()) > resumed, "the command did not wait"
