"""A day of the official Python SDK, 2.x: `python_2.py modern|legacy stdio|URL COMMAND…`"""

import asyncio
import warnings
from contextlib import AsyncExitStack

import mcp_types as types
from mcp import Client, StdioServerParameters

import day


class Memory:
    """A client, as the day has it."""

    def __init__(self, client, today, stack):
        self.client = client
        self.instructions = client.instructions
        self.today = today
        self.stack = stack

    async def tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def prompts(self):
        return [prompt.name for prompt in (await self.client.list_prompts()).prompts]

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    async def call(self, tool, arguments=None):
        result = await self.client.call_tool(tool, arguments)
        return day.answer_of(result, result.is_error, result.structured_content)

    async def complete(self, template, name, value):
        about = types.ResourceTemplateReference(type="ref/resource", uri=template)
        result = await self.client.complete(about, {"name": name, "value": value})
        return result.completion.values

    async def resources(self):
        return [it.uri for it in (await self.client.list_resources()).resources]

    async def templates(self):
        listed = await self.client.list_resource_templates()
        return [it.uri_template for it in listed.resource_templates]

    async def read(self, uri):
        return day.document_of(await self.client.read_resource(uri))

    async def subscribe(self, uri):
        if self.client.protocol_version < "2026":
            return await self.client.subscribe_resource(uri)
        stream = self.client.listen(resource_subscriptions=[uri])
        told = await self.stack.enter_async_context(stream)
        assert told.honored.resource_subscriptions == [uri], told.honored

        async def hear():
            async for event in told:
                self.today.updated.put_nowait(event.uri)

        self.stack.callback(asyncio.create_task(hear()).cancel)


async def client(today, era, address, command):
    async def hear(message):
        if isinstance(message, Exception):
            raise message
        if isinstance(message, types.ResourceUpdatedNotification):
            today.updated.put_nowait(message.params.uri)

    async def say_yes(_context, params):
        today.questions.append(params.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    server = address
    if address == "stdio":
        server = StdioServerParameters(command=command[0], args=command[1:])
    mode = "auto" if era == "modern" else era
    callbacks = {"message_handler": hear, "elicitation_callback": say_yes}
    async with AsyncExitStack() as stack:
        connected = await stack.enter_async_context(Client(server, mode=mode, **callbacks))
        assert (connected.protocol_version >= "2026") == (era == "modern")
        await today.spend(Memory(connected, today, stack))


warnings.simplefilter("ignore")
day.main(client)
