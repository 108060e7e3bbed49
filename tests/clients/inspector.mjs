// A day of the inspector's command line: `inspector.mjs modern|legacy stdio|URL COMMAND…`
//
// Each step is a process of its own, and over stdio a server of its own. It has no command that
// subscribes or completes, and shows no forms.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { answerOf, documentOf, main } from "./day.mjs";

const PACKAGE = new URL("./node_modules/@modelcontextprotocol/inspector/", import.meta.url);
const INSPECTOR = new URL("clients/launcher/build/index.js", PACKAGE).pathname;
const run = promisify(execFile);

class Memory {
  constructor(era, address, command) {
    this.options = ["--cli", "--format", "json", "--quiet", "--protocol-era", era];
    this.server = address === "stdio" ? ["--", ...command] : ["--server-url", address];
  }

  async ask(method, ...options) {
    const args = [INSPECTOR, ...this.options, "--method", method, ...options, ...this.server];
    try {
      return JSON.parse((await run(process.execPath, args)).stdout).result;
    } catch (error) {
      // A tool's error is a result and an exit code.
      if (error.stdout) return JSON.parse(error.stdout).result;
      throw new Error(error.stderr?.trim() || error.message);
    }
  }

  async tools() {
    return (await this.ask("tools/list")).tools.map((tool) => tool.name);
  }

  async prompts() {
    return (await this.ask("prompts/list")).prompts.map((prompt) => prompt.name);
  }

  async prompt(name, args) {
    const pairs = Object.entries(args).flatMap((pair) => ["--prompt-args", pair.join("=")]);
    const prompt = await this.ask("prompts/get", "--prompt-name", name, ...pairs);
    return prompt.messages[0].content.text;
  }

  async call(name, args = {}) {
    const told = ["--tool-name", name, "--tool-args-json", JSON.stringify(args)];
    return answerOf(await this.ask("tools/call", ...told));
  }

  async resources() {
    return (await this.ask("resources/list")).resources.map((it) => it.uri);
  }

  async templates() {
    return (await this.ask("resources/templates/list")).resourceTemplates.map((it) => it.uriTemplate);
  }

  async read(uri) {
    return documentOf(await this.ask("resources/read", "--uri", uri));
  }
}

await main((day, era, address, command) => day.spend(new Memory(era, address, command)));
