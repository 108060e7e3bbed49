"""An agent's day with its memory, for any client that has the methods that are called here.

A tool that fails raises `ToolFailed`, and every other error of a client is the day's failure. What
is found is what `.ci/clients` compiled: two notes, one of which says who is on call.
"""

import asyncio
import json
import sys
import traceback


class ToolFailed(Exception):
    """A tool answered with an error for the agent."""


class Day:
    def __init__(self):
        self.step = "connect"
        self.updated = asyncio.Queue()
        """URIs of the resources that the server said were updated."""
        self.questions = []
        """What the user was asked, who always says yes."""

    async def spend(self, memory):
        self.step = "orient"
        assert "MemorySearch" in memory.instructions, memory.instructions
        assert {"MemorySearch", "MemoryWrite"} <= set(await memory.tools())
        assert "orient" in await memory.prompts()
        assert "`on call`" in await memory.prompt("orient", {"topic": "on call"})
        before = (await memory.call("MemoryStats"))["head"]["id"]

        self.step = "search"
        found = await memory.call("MemorySearch", {"query": "who is on call?"})
        ana = found["hits"][0]["id"]

        self.step = "fetch"
        fetched = await memory.call("MemoryFetch", {"anchor": ana})
        assert "odd weeks" in str(fetched["nodes"]), fetched
        await fails(memory.call("MemoryFetch", {"anchor": "nowhere"}), "nowhere")

        self.step = "complete"
        template = "remindb://tree/{rootId}{?depth}"
        assert ana in await memory.complete(template, "rootId", ana[:4])

        self.step = "subscribe"
        await memory.subscribe("remindb://tree")

        self.step = "write"
        written = await memory.call("MemoryWrite", {"payload": "Ben takes over in June."})
        ben = written["node_id"]

        self.step = "be told"
        told = await asyncio.wait_for(self.updated.get(), 10)
        assert str(told) == "remindb://tree", told

        self.step = "relate"
        await memory.call("MemoryRelate", {"source_id": ben, "target_id": ana, "weight": 2})
        related = await memory.call("MemoryRelated", {"anchor": ben, "direction": "out"})
        assert [node["id"] for node in related["nodes"]] == [ana], related

        self.step = "delta"
        delta = await memory.call("MemoryDelta", {"since_snapshot": before})
        assert [(it["op"], it["id"]) for it in delta["changes"]] == [("add", ben)], delta

        self.step = "read"
        assert "remindb://overview" in await memory.resources()
        assert template in await memory.templates()
        assert (await memory.read("remindb://overview"))["nodes"]["total"] > 0
        assert (await memory.read(f"remindb://tree/{ben}?depth=1"))["roots"][0]["id"] == ben
        await fails(memory.read("remindb://nothing"), "remindb://nothing")

        self.step = "roll back"
        await memory.call("MemoryRollback", {"snapshot_id": before})
        await fails(memory.call("MemoryFetch", {"anchor": ben}), ben)
        assert self.questions == []

        self.step = "roll back for good"
        gone = await memory.call("MemoryRollback", {"snapshot_id": before, "drop_after": True})
        assert gone["dropped"] >= 2, gone
        assert len(self.questions) == 1, self.questions


async def fails(attempt, why):
    """Expects an error that says `why`."""
    try:
        answer = await attempt
    except Exception as error:
        assert why in str(error), error
    else:
        raise AssertionError(f"no error, but {answer}")


def answer_of(result, is_error, structured):
    """What a program reads of a tool's result; the text beside it is the agent's."""
    text = "\n".join(block.text for block in result.content)
    if is_error:
        raise ToolFailed(text)
    assert text, result
    return structured


def document_of(result):
    """What is in a resource."""
    return json.loads(result.contents[0].text)


def main(client):
    """Spends a day with `client(day, era, address, command)` and says how it went in one line."""
    era, address, *command = sys.argv[1:]
    day = Day()
    try:
        asyncio.run(asyncio.wait_for(client(day, era, address, command), 240))
    except BaseException as error:
        traceback.print_exc()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        why = str(error).strip() or repr(error)
        print(f"failed: {day.step}: {why.splitlines()[0]}")
        sys.exit(1)
    print("ok")
