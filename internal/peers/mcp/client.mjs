// The MCP SDK's client and the inspector's command line against langrooms, over both transports.
// Arguments: the URL of a server with the keys ada and bob, that of one without keys, the program,
// and the folder of the latter. Each story says what it checks; the first that fails ends the program.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const [keyed, keyless, program, keyedFolder, keylessFolder] = process.argv.slice(2);
const tools = ["close_room", "create_room", "leave_room", "list_rooms", "post_to_room", "read_room", "wait_for_mention"];

const over = {
  http: (key) => new StreamableHTTPClientTransport(new URL(keyed + "/mcp"), { requestInit: { headers: { Authorization: "Bearer " + key } } }),
  stdio: (key) => new StdioClientTransport({ command: program, args: ["mcp", "--key-env", "KEY"], env: { KEY: key }, cwd: keyedFolder }),
  bridge: (key) => new StdioClientTransport({ command: program, args: ["mcp", "--url", keyed + "/mcp", "--key-env", "KEY"], env: { KEY: key }, cwd: keylessFolder }),
};

async function connect(how, key) {
  const client = new Client({ name: "peer", version: "1" });
  await client.connect(over[how](key));
  return client;
}

// call returns a tool's structured content, which is what its text says.
async function call(client, name, args = {}, options) {
  const r = await client.callTool({ name, arguments: args }, undefined, options);
  assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent);
  return r;
}

async function drive(how) {
  const ada = await connect(how, "planted-ada"), bob = await connect(how, "planted-bob");
  const listed = (await ada.listTools()).tools;
  assert.deepEqual(listed.map((t) => t.name).sort(), tools);
  assert.equal(listed.find((t) => t.name === "read_room").annotations.readOnlyHint, true);
  assert.deepEqual(Object.keys(listed.find((t) => t.name === "create_room").inputSchema.properties).sort(),
    ["agents", "max_cost_usd", "max_messages", "name", "scribe", "topic", "ttl_hours"]);
  const room = (await call(ada, "create_room", { name: "js", agents: ["proto", "reviewer"], topic: "t", max_messages: 9, max_cost_usd: 1.5, ttl_hours: 2, scribe: "reviewer" })).structuredContent;
  assert.match(room.id, /^room_[0-9a-f]{16}$/);
  const room_id = room.id;
  assert.ok((await call(ada, "list_rooms")).structuredContent.rooms.some((r) => r.id === room_id));
  const refused = await call(bob, "read_room", { room_id });
  assert.equal(refused.isError, true);
  assert.equal(refused.structuredContent.error, "room_not_found");
  const posted = (await call(ada, "post_to_room", { room_id, content: "a note", sender: "bob" })).structuredContent;
  assert.equal(posted.seq, 2);
  const read = (await call(ada, "read_room", { room_id, since: 1 })).structuredContent;
  assert.deepEqual(read.messages.map((m) => [m.seq, m.sender.name, m.content]), [[2, "ada", "a note"]]);
  const told = [];
  const waited = await call(ada, "wait_for_mention", { room_id, timeout: 0.2 }, { onprogress: (p) => told.push(p.message) });
  assert.deepEqual(waited.structuredContent, { messages: [] });
  assert.deepEqual(told, ["waiting to be mentioned"]);
  const closed = (await call(ada, "close_room", { room_id, reason: "done" })).structuredContent;
  assert.equal(closed.already_closed, false);
  assert.equal((await call(ada, "close_room", { room_id })).structuredContent.stop_reason, "done");
  await call(ada, "leave_room", { room_id });
  assert.equal((await call(ada, "post_to_room", { room_id, content: "more" })).structuredContent.error, "room_not_found");
  assert.equal((await call(ada, "read_room", { room_id })).structuredContent.messages[1].content, "a note");
  await ada.close();
  await bob.close();
}

const cli = fileURLToPath(new URL("node_modules/@modelcontextprotocol/inspector/cli/build/index.js", import.meta.url));

async function inspect(target, cwd, method, tool, args = {}) {
  const more = tool ? ["--tool-name", tool] : [];
  for (const [k, v] of Object.entries(args)) more.push("--tool-arg", `${k}=${v}`);
  const { stdout } = await promisify(execFile)("node", [cli, ...target, "--method", method, ...more], { cwd });
  return JSON.parse(stdout);
}

async function driveInspector(target) {
  const tool = async (name, args) => (await inspect(target, keylessFolder, "tools/call", name, args)).structuredContent;
  assert.deepEqual((await inspect(target, keylessFolder, "tools/list")).tools.map((t) => t.name).sort(), tools);
  const { id: room_id } = await tool("create_room", { name: "inspected", agents: '["proto"]', max_messages: 9 });
  assert.ok((await tool("list_rooms")).rooms.some((r) => r.id === room_id));
  assert.equal((await tool("post_to_room", { room_id, content: "a note" })).seq, 2);
  assert.equal((await tool("read_room", { room_id, since: 1 })).messages[0].content, "a note");
  assert.deepEqual(await tool("wait_for_mention", { room_id, timeout: 0.1 }), { messages: [] });
  assert.equal((await tool("close_room", { room_id, reason: "seen" })).stop_reason, "seen");
  await tool("leave_room", { room_id });
}

const stories = {
  "the SDK's client, streamable HTTP": () => drive("http"),
  "the SDK's client, standard input and output": () => drive("stdio"),
  "the SDK's client, by the go-between": () => drive("bridge"),
  "the inspector, streamable HTTP": () => driveInspector([keyless + "/mcp"]),
  "the inspector, standard input and output": () => driveInspector([program, "mcp"]),
  async "a wrong key opens no session"() {
    await assert.rejects(connect("http", "wrong"));
    await assert.rejects(connect("stdio", "wrong"));
    await assert.rejects(connect("bridge", "wrong"));
  },
};

for (const [name, story] of Object.entries(stories)) {
  try {
    await story();
  } catch (e) {
    console.log(`FAILED ${name}`);
    throw e;
  }
  console.log(`ok ${name}`);
}
