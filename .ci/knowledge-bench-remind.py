"""Measures remind-mcp on an export of the same memory; prints one object of JSON.

Usage: knowledge-bench-remind.py EXPORT SIZE, run by a Python that has remind-mcp.
"""
import http.client
import importlib.util
import json
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse

bench = importlib.util.spec_from_file_location(
    "bench", pathlib.Path(__file__).with_name("knowledge-bench.py"))
ours = importlib.util.module_from_spec(bench)
bench.loader.exec_module(ours)
BIN = pathlib.Path(sys.executable).parent


class Client:
    """A client of the server over its transport: events one way, posts the other."""

    def __init__(self, port, db):
        self.port = port
        self.events = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.events.request("GET", "/sse?db=" + urllib.parse.quote(db, safe=""),
                            headers={"Accept": "text/event-stream"})
        self.stream = self.events.getresponse()
        # The address that it gives redirects to one with a slash.
        self.endpoint = self.event().replace("/messages?", "/messages/?")
        self.nth = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def event(self):
        data = []
        while True:
            line = self.stream.readline().decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].strip())
            if not line and data:
                return "\n".join(data)

    def post(self, message):
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        conn.request("POST", self.endpoint, json.dumps(message),
                     {"Content-Type": "application/json"})
        conn.getresponse().read()
        conn.close()

    def ask(self, method, params):
        self.nth += 1
        self.post({"jsonrpc": "2.0", "id": self.nth, "method": method, "params": params})
        while True:
            reply = json.loads(self.event())
            if reply.get("id") == self.nth:
                return reply["result"]

    def call(self, name, args):
        reply = self.ask("tools/call", {"name": name, "arguments": args})
        text = reply["content"][0]["text"] if reply["content"] else ""
        assert not reply.get("isError"), text
        return text


def main():
    export, size = sys.argv[1], int(sys.argv[2])
    path = pathlib.Path(f"remind-{size}.db").absolute()
    db = f"sqlite:///{path}"
    command = [BIN / "remind", "--embedding", "deterministic", "--store", db, "import", export]
    figures = {"import": ours.ms(lambda: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL))[0]}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    server = subprocess.Popen([BIN / "remind-mcp", "--port", str(port), "--embedding",
                               "deterministic"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                client = Client(port, db)
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        figures["start"] = (time.perf_counter() - began) * 1000
        n_calls = 50 if size <= 1000 else 15
        some = ours.questions(size)[:n_calls]
        recalls = [ours.ms(lambda: client.call("recall", {"query": it}))[0] for it in some]
        figures["recall p50"] = ours.p(recalls, .5)
        figures["recall p95"] = ours.p(recalls, .95)
        dice = random.Random(7)
        new = [ours.text(dice, size + nth) for nth in range(n_calls)]
        remembers = [ours.ms(lambda: client.call("remember", {"content": it}))[0] for it in new]
        figures["remember p50"] = ours.p(remembers, .5)
        figures["remember p95"] = ours.p(remembers, .95)
        reviews = [ours.ms(lambda: client.call("snapshot", {"scopes": "pending conflicts health"}))[0]
                   for _ in range(3)]
        figures["review"] = statistics.median(reviews)
        changes = json.dumps([{"op": "remember", "content": ours.text(dice, 2 * size + nth)}
                              for nth in range(100)])
        figures["apply of 100"] = ours.ms(lambda: client.call("apply", {"changeset": changes}))[0]
        for line in open(f"/proc/{server.pid}/status"):
            if line.startswith("VmRSS"):
                figures["resident MB"] = int(line.split()[1]) / 1024
    finally:
        server.terminate()
        server.wait(timeout=60)
    figures["megabytes"] = sum(
        it.stat().st_size for it in path.parent.glob(path.name + "*")) / 1e6
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
