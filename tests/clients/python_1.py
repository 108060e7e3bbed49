"""A day of the official Python SDK, 1.x: `python_1.py legacy stdio|URL COMMAND…`"""

from contextlib import AsyncExitStack

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

import day


class Memory:
    """A session, as the day has it."""

    def __init__(self, session, hello):
        self.session = session
        self.instructions = hello.instructions

    async def tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def prompts(self):
        return [prompt.name for prompt in (await self.session.list_prompts()).prompts]

    async def prompt(self, name, arguments):
        return (await self.session.get_prompt(name, arguments)).messages[0].content.text

    async def call(self, tool, arguments=None):
        result = await self.session.call_tool(tool, arguments)
        return day.answer_of(result, result.isError, result.structuredContent)

    async def complete(self, template, name, value):
        about = types.ResourceTemplateReference(type="ref/resource", uri=template)
        result = await self.session.complete(about, {"name": name, "value": value})
        return result.completion.values

    async def resources(self):
        return [str(it.uri) for it in (await self.session.list_resources()).resources]

    async def templates(self):
        listed = await self.session.list_resource_templates()
        return [it.uriTemplate for it in listed.resourceTemplates]

    async def read(self, uri):
        return day.document_of(await self.session.read_resource(uri))

    async def subscribe(self, uri):
        await self.session.subscribe_resource(uri)


async def client(today, era, address, command):
    assert era == "legacy", era

    async def hear(message):
        if isinstance(message, Exception):
            raise message
        if isinstance(message, types.ServerNotification):
            if isinstance(message.root, types.ResourceUpdatedNotification):
                today.updated.put_nowait(message.root.params.uri)

    async def say_yes(_context, params):
        today.questions.append(params.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    async with AsyncExitStack() as stack:
        if address == "stdio":
            server = StdioServerParameters(command=command[0], args=command[1:])
            streams = await stack.enter_async_context(stdio_client(server))
        else:
            streams = await stack.enter_async_context(streamablehttp_client(address))
        session = ClientSession(
            *streams[:2], message_handler=hear, elicitation_callback=say_yes
        )
        await stack.enter_async_context(session)
        hello = await session.initialize()
        await today.spend(Memory(session, hello))


day.main(client)
