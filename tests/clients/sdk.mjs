// What the two official TypeScript SDKs have in common: a client of theirs, as the day has it.

import { answerOf, documentOf } from "./day.mjs";

export class Memory {
  asks = true;

  constructor(client) {
    this.client = client;
  }

  instructions() {
    return this.client.getInstructions();
  }

  async tools() {
    return (await this.client.listTools()).tools.map((tool) => tool.name);
  }

  async prompts() {
    return (await this.client.listPrompts()).prompts.map((prompt) => prompt.name);
  }

  async prompt(name, args) {
    const prompt = await this.client.getPrompt({ name, arguments: args });
    return prompt.messages[0].content.text;
  }

  async call(name, args = {}) {
    return answerOf(await this.client.callTool({ name, arguments: args }));
  }

  async complete(uri, name, value) {
    const ref = { type: "ref/resource", uri };
    return (await this.client.complete({ ref, argument: { name, value } })).completion.values;
  }

  async resources() {
    return (await this.client.listResources()).resources.map((it) => it.uri);
  }

  async templates() {
    const listed = await this.client.listResourceTemplates();
    return listed.resourceTemplates.map((it) => it.uriTemplate);
  }

  async read(uri) {
    return documentOf(await this.client.readResource({ uri }));
  }

  async subscribe(uri) {
    await this.client.subscribeResource({ uri });
  }
}
