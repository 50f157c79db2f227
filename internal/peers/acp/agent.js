// An ACP agent on the TypeScript SDK. Each line of a prompt is a command:
//
//   say TEXT      a message chunk
//   think TEXT    a thought chunk
//   permit KIND   asks for a permission and says the answer
//   count         says how many prompts the session has had
//   hold          works until session/cancel
//
// Sessions are files in the folder STATE, so that another process can load them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, RequestError, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const file = (id) => join(process.env.STATE, id);
const load = (id) => JSON.parse(readFileSync(file(id), "utf8"));
const save = (id, said) => writeFileSync(file(id), JSON.stringify(said));
const stops = new Map(); // session id -> how to stop its turn

const chunk = (client, sessionId, sessionUpdate, text) =>
  client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate, content: { type: "text", text } },
  });

async function permit(client, sessionId, kind) {
  const answer = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId: "call-1", title: "A tool", kind, status: "pending" },
    options: [
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ],
  });
  return answer.outcome.outcome === "selected" ? answer.outcome.optionId : "cancelled";
}

async function prompt({ params, client }) {
  const { sessionId } = params;
  const text = params.prompt[0].text;
  const said = [...load(sessionId), text];
  save(sessionId, said);
  for (const line of text.split("\n")) {
    const [verb, ...rest] = line.split(" ");
    const words = rest.join(" ");
    switch (verb) {
      case "say":
        await chunk(client, sessionId, "agent_message_chunk", words);
        break;
      case "think":
        await chunk(client, sessionId, "agent_thought_chunk", words);
        break;
      case "permit":
        await chunk(client, sessionId, "agent_message_chunk", await permit(client, sessionId, words));
        break;
      case "count":
        await chunk(client, sessionId, "agent_message_chunk", String(said.length));
        break;
      case "hold":
        await new Promise((resolve) => stops.set(sessionId, resolve));
        return { stopReason: "cancelled" };
      default:
        throw RequestError.internalError({ details: `no command ${verb}` });
    }
  }
  return { stopReason: "end_turn" };
}

agent({ name: "peer" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "peer", version: "0.1.0" },
    agentCapabilities: { loadSession: true },
  }))
  .onRequest(methods.agent.session.new, () => {
    const sessionId = crypto.randomUUID();
    save(sessionId, []);
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    for (const text of load(params.sessionId)) {
      await chunk(client, params.sessionId, "user_message_chunk", text);
      await chunk(client, params.sessionId, "agent_message_chunk", `replayed answer to ${text}`);
    }
    return {};
  })
  .onRequest(methods.agent.session.prompt, prompt)
  .onNotification(methods.agent.session.cancel, ({ params }) => stops.get(params.sessionId)?.())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
