"""The worker: imports a template and calls its functions for the server.

Frames go both ways over two pipes that were standard input and output: four bytes of length, big-endian, then that much
JSON. Before the template is imported, standard input becomes empty and standard output goes where standard error goes,
so that nothing the template prints or reads can break a frame.

To the worker: `{"id", "command", "arguments"}`, `{"id", "route", "request"}`, `{"id", "more": n}` (room for n more events
of a stream), `{"id", "cancel": true}`. From it: `{"ready": manifest}` or `{"failed": {...}}` once; per call
`{"id", "result"}`, `{"id", "response"}`, `{"id", "error"}`, or `{"id", "stream"}`, then `{"id", "event"}` each, then
`{"id", "end"}`.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import importlib.util
import inspect
import json
import os
import struct
import sys
import threading
from typing import Any, Dict, Optional

from .app import Served
from .types import ServerRequest, ServerResponse, SSEResponse

MAX_FRAME = 64 << 20
"""Longest frame, in bytes; the server has the same bound."""

ROOM = 32
"""Events of one stream that may be on their way to a client."""


class Channel:
    """The two pipes."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = os.fdopen(incoming, "rb")
        self._outgoing = outgoing
        self._lock = threading.Lock()

    def receive(self) -> Optional[Dict[str, Any]]:
        """The next frame; None once the server has closed its end."""
        head = self._incoming.read(4)
        if len(head) < 4:
            return None
        (length,) = struct.unpack(">I", head)
        return json.loads(self._incoming.read(length))

    def send(self, frame: Dict[str, Any]) -> None:
        """Sends a frame whole. What JSON cannot carry raises before a byte has left."""
        text = json.dumps(frame, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        text.decode("utf-8")
        if len(text) > MAX_FRAME:
            raise ValueError("the result is too large")
        data = memoryview(struct.pack(">I", len(text)) + text)
        with self._lock:
            while data:
                data = data[os.write(self._outgoing, data) :]


class Call:
    """A call under way."""

    def __init__(self) -> None:
        self.cancelled = False
        self.room = threading.Semaphore(ROOM)

    def cancel(self) -> None:
        self.cancelled = True
        self.room.release()


class Worker:
    """Runs every call in a thread of its own."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.calls: Dict[int, Call] = {}

    def run(self) -> None:
        while True:
            frame = self.channel.receive()
            if frame is None:
                return
            number = frame["id"]
            known = self.calls.get(number)
            if "cancel" in frame:
                if known:
                    known.cancel()
            elif "more" in frame:
                if known:
                    for _ in range(frame["more"]):
                        known.room.release()
            else:
                call = self.calls[number] = Call()
                threading.Thread(target=self.answer, args=(number, call, frame), daemon=True).start()

    def answer(self, number: int, call: Call, frame: Dict[str, Any]) -> None:
        try:
            if "command" in frame:
                self.command(number, frame)
            else:
                self.route(number, call, frame)
        except BaseException as error:  # SystemExit of a command must not end its thread without an answer.
            self.fail(number, error)
        finally:
            self.calls.pop(number, None)

    def command(self, number: int, frame: Dict[str, Any]) -> None:
        command = Served.registry.get(frame["command"])
        if command is None:
            raise LookupError(f"no such command: {frame['command']}")
        result = finished(command.function(**frame["arguments"]))
        self.channel.send({"id": number, "result": result})

    def route(self, number: int, call: Call, frame: Dict[str, Any]) -> None:
        route = Served.table.routes[frame["route"]]
        response = finished(route.handler(ServerRequest(**frame["request"])))
        if isinstance(response, ServerResponse):
            self.channel.send({"id": number, "response": head(response, body(response.body))})
        elif isinstance(response, SSEResponse):
            self.stream(number, call, response)
        else:
            kind = type(response).__name__
            raise TypeError(f"a route returns ServerResponse or SSEResponse, not {kind}")

    def stream(self, number: int, call: Call, response: SSEResponse) -> None:
        self.channel.send({"id": number, "stream": head(response, {})})
        events = iter(response.event_iterator)
        try:
            for event in events:
                call.room.acquire()
                if call.cancelled:
                    return
                text = event.decode("utf-8", "replace") if isinstance(event, bytes) else str(event)
                self.channel.send({"id": number, "event": text})
        finally:
            close = getattr(events, "close", None)
            if close:
                close()
        self.channel.send({"id": number, "end": True})

    def fail(self, number: int, error: BaseException) -> None:
        kind, message = type(error).__name__, str(error)
        try:
            self.channel.send({"id": number, "error": {"type": kind, "message": message}})
        except ValueError:
            self.channel.send({"id": number, "error": {"type": kind, "message": ascii(message)[:1000]}})


def finished(result: Any) -> Any:
    """Waits for the result of an `async def`."""
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    return result


def head(response: Any, rest: Dict[str, Any]) -> Dict[str, Any]:
    headers = {str(name): str(value) for name, value in (response.headers or {}).items()}
    return {"status": int(response.status), "headers": headers, **rest}


def body(value: Any) -> Dict[str, Any]:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"bytes": base64.b64encode(bytes(value)).decode("ascii")}
    return {"json": value}


def load(target: Dict[str, str]) -> None:
    """Imports the template as a script of that file, or as a module, would be."""
    if "module" in target:
        sys.path.insert(0, target["directory"])
        importlib.import_module(target["module"])
        return
    path = target["file"]
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def manifest() -> Dict[str, Any]:
    return {
        "commands": [command.manifest() for command in Served.registry.all()],
        "routes": [route.manifest() for route in Served.table.routes],
        "switches": [{"group": group.value, "enabled": enabled} for group, enabled in Served.table.switches],
    }


def main(target: Dict[str, str]) -> None:
    """Takes the pipes away from the template, imports it, and serves until the server closes its end."""
    channel = Channel(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    Served.in_worker = True
    sys.argv = [target.get("file", target.get("module", ""))]
    try:
        load(target)
        Served.registry.freeze()
        ready = manifest()
    except BaseException as error:  # Whatever an import raises, SystemExit too, is why it failed.
        import traceback

        traceback.print_exc()
        channel.send({"failed": {"type": type(error).__name__, "message": ascii(str(error))[1:-1]}})
        os._exit(1)
    channel.send({"ready": ready})
    Worker(channel).run()
    # Threads that the template has started must not keep the process.
    sys.stderr.flush()
    os._exit(0)
