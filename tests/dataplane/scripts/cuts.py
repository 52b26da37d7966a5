"""One run whose connection is cut ten times. Nothing is lost and nothing comes twice."""

from common import BASE, CuttingProxy, equal, sandbox

CUTS = 10
text = "".join(f"{n} Zeile€ 😀 {n}\n" for n in range(100_000))
with open(f"{BASE}/long", "w") as file:
    file.write(text)

proxy = CuttingProxy()
box = sandbox(proxy.port)
equal(box.dataplane_url, f"http://127.0.0.1:{proxy.port}/api/v2/sandboxes/box")
handle = box.run("cat long; cat long >&2", wait=False)

received = 0
next_cut = 100_000
offsets = {"stdout": 0, "stderr": 0}
parts = {"stdout": [], "stderr": []}
step = 2 * len(text.encode()) // (CUTS + 2)
for chunk in handle:
    equal(chunk.offset, offsets[chunk.stream], "the offset goes on where the last chunk ended")
    offsets[chunk.stream] += len(chunk.data.encode())
    parts[chunk.stream].append(chunk.data)
    received += len(chunk.data.encode())
    if received > next_cut and proxy.cuts < CUTS:
        next_cut = received + step // 2
        proxy.cut()
equal("".join(parts["stdout"]), text, "stdout")
equal("".join(parts["stderr"]), text, "stderr")
equal(handle.result.exit_code, 0)
equal(proxy.cuts, CUTS)
