// A client on the TypeScript SDK for the tests of langrooms acp: node client.js PROGRAM FOLDER. It
// tells its stories, prints "ok NAME" for each that ends well, and ends with status 1 when one
// does not. The roster has proto, which says "two things", and the lead says "I am the lead".
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const [program, cwd] = process.argv.slice(2);
const child = spawn(program, ["acp"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
let said = "";
let commands = [];
const app = client({ name: "peer" })
  .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: "cancelled" } }))
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "agent_message_chunk") said += update.content.text;
    if (update.sessionUpdate === "user_message_chunk") said += `> ${update.content.text}\n`;
    if (update.sessionUpdate === "available_commands_update") commands = update.availableCommands.map((c) => c.name);
  });

let failed = false;
async function story(name, tell) {
  said = "";
  try {
    await tell();
    console.log(`ok ${name}`);
  } catch (err) {
    failed = true;
    console.log(`FAILED ${name}: ${err.stack ?? JSON.stringify(err)}`);
  }
}

await app.connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  let sessionId;
  const prompt = (text) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  await story("a session", async () => {
    const hello = await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    assert.equal(hello.agentInfo.name, "langrooms");
    const made = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    assert.deepEqual(made.modes.availableModes.map((m) => m.id), ["room", "lead"]);
    sessionId = made.sessionId;
  });
  await story("a member answers under its name", async () => {
    assert.equal((await prompt("@proto what broke?")).stopReason, "end_turn");
    assert.equal(said, "**@proto** — two things");
    assert.deepEqual(commands, ["who", "thread"]);
  });
  await story("the lead answers the rest", async () => {
    await prompt("and you?");
    assert.equal(said, "I am the lead");
  });
  await story("the session is loaded again", async () => {
    await agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    assert.match(said, /> @proto what broke\?\n\*\*@proto\*\* — two things/);
  });
});
child.stdin.end();
await new Promise((resolve) => child.on("exit", resolve));
process.exit(failed ? 1 : 0);
