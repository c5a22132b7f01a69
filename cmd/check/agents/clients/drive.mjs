// Drives a client of agents. The first line of standard input says which server it talks to:
// {"url", "headers"} for the SDK's own client over HTTP, {"command", "env"} for a program that
// speaks MCP on its standard input and output. Each line after it is a step, {"do", "with"}, and
// is answered by a line {"result"} or {"error"}.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

// authProvider is what makes the SDK start OAuth wherever an answer asks for it, as the hosts
// of agents do. It holds no token.
const authProvider = {
  redirectUrl: "http://127.0.0.1/callback",
  clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"], client_name: "check" },
  clientInformation: () => undefined,
  saveClientInformation: () => {},
  tokens: () => undefined,
  saveTokens: () => {},
  redirectToAuthorization: () => {},
  saveCodeVerifier: () => {},
  codeVerifier: () => "",
};

function transportTo({ url, headers, command, env }) {
  if (command) {
    return new StdioClientTransport({ command: command[0], args: command.slice(1), env, stderr: "inherit" });
  }
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, authProvider });
}

const client = new Client({ name: "check", version: "1" });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const transport = transportTo(JSON.parse((await lines.next()).value));
const steps = {
  connect: () => client.connect(transport).then(() => client.getServerVersion()),
  listTools: () => client.listTools(),
  callTool: (call) => client.callTool(call),
  readResource: (resource) => client.readResource(resource),
  getPrompt: (prompt) => client.getPrompt(prompt),
  ping: () => client.ping(),
  close: async () => {
    await transport.terminateSession?.();
    await client.close();
    return {};
  },
};

for await (const line of lines) {
  const step = JSON.parse(line);
  let outcome;
  try {
    outcome = { result: await steps[step.do](step.with) };
  } catch ({ constructor, code, message }) {
    outcome = { error: { name: constructor.name, code, message } };
  }
  console.log(JSON.stringify(outcome));
}
await client.close();
