"""What only a socket can: input, kill, a terminal, the end with the connection."""

import os
import time

from common import BASE, equal, eventually, raises, sandbox
from langsmith.sandbox import SandboxOperationError

box = sandbox()


def lives(pid):
    # The process may leave between any two looks: a file that opens can still answer "no such process".
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid):
    eventually(lambda: not lives(pid), f"the end of {pid}")


handle = box.run("cat; echo end", wait=False, close_input=False)
for piece in ("eins\n", "zwei€\n", "drei"):
    handle.send_input(piece)
handle.close_input()
equal(handle.result.stdout, "eins\nzwei€\ndreiend\n")

# More than any pipe holds, while nobody reads yet.
handle = box.run("sleep 0.5; wc -c", wait=False, close_input=False)
for _ in range(30):
    handle.send_input("x" * 100_000)
handle.close_input()
equal(handle.result.stdout.strip(), "3000000")

# kill is followed by the close at once, and reaches the children too.
handle = box.run("sleep 300 & echo $!; sleep 300", wait=False)
chunks = iter(handle)
child = int(next(chunks).data)
handle.kill()
gone(child)
gone(handle.pid)
equal(box.reconnect(handle.command_id).result.exit_code, -9)

# A terminal: one stream, a size, an end of input.
handle = box.run("stty size; read line; echo \"<$line>\"; echo err >&2", wait=False, pty=True)
handle.send_input("tipp\n")
result = handle.result
equal(result.stderr, "")
assert "24 80" in result.stdout and "<tipp>" in result.stdout and "err" in result.stdout, result.stdout

# The command ends with the connection where that was asked for, and goes on elsewhere.
for kill_on_disconnect in (True, False):
    nap = 200 if kill_on_disconnect else 5
    handle = box.run(f"echo $$; sleep {nap}; touch went_on", wait=False, kill_on_disconnect=kill_on_disconnect)
    pid = int(next(iter(handle)).data)
    handle._control._ws.close()
    if kill_on_disconnect:
        gone(pid)
        assert not os.path.exists(f"{BASE}/went_on")
    else:
        again = handle.reconnect()
        equal(again.result.exit_code, 0)
        assert os.path.exists(f"{BASE}/went_on")

# Nobody is attached for longer than was said.
handle = box.run("sleep 300", wait=False, idle_timeout=1)
handle._control._ws.close()
gone(handle.pid)
equal(raises(SandboxOperationError, lambda: handle.reconnect().result).error_type, "SessionExpired")

# Kept no longer than was said.
handle = box.run("true", wait=False, ttl_seconds=1)
equal(handle.result.exit_code, 0)


def forgotten():
    # Asked more seldom than it is kept, in case that being asked for keeps it.
    time.sleep(2)
    try:
        return box.reconnect(handle.command_id).result is None
    except SandboxOperationError as error:
        equal(error.error_type, "CommandNotFound")
        return True


eventually(forgotten, "it is forgotten")

# A silent command is attached to again and again.
handle = box.run("sleep 2.5; echo alive", wait=False)
for _ in range(3):
    handle._control._ws.close()
    handle = handle.reconnect()
    equal(next(handle._stream)["command_id"], handle.command_id, "attached again")
    time.sleep(0.2)
equal(handle.result.stdout, "alive\n")

# Left alone while it prints: all is replayed, and what is typed then arrives.
handle = box.run("head -c 8192 /dev/zero | tr '\\0' x; read line; echo \"<$line>\"", wait=False, close_input=False)
handle._control._ws.close()
again = handle.reconnect()
equal(next(again._stream)["command_id"], handle.command_id, "attached again")
again.send_input("typed\n")
again.close_input()
equal(again.result.stdout, "x" * 8192 + "<typed>\n")
