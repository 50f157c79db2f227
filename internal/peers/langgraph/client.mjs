// The SDK's client against a langrooms server with the demo's roster: each story says what it
// checks, and the first that fails ends the program.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";

const client = new Client({ apiUrl: process.argv[2], apiKey: process.argv[3] || null });
const human = (content, id) => ({ messages: [{ type: "human", content, ...(id ? { id } : {}) }] });
const texts = (values) => values.messages.map((m) => `${m.type}${m.name ? " " + m.name : ""}: ${m.content}`);

async function collect(stream) {
  const events = [];
  for await (const e of stream) events.push(e);
  return events;
}

const stories = {
  async "assistants are found by graph id"() {
    const found = await client.assistants.search({ graphId: "agent" });
    assert.equal(found[0].assistant_id, "fe096781-5601-53d2-b2f6-0d3403f7e9ca");
    assert.equal((await client.assistants.get("agent-named")).graph_id, "agent-named");
    const graph = await client.assistants.getGraph("agent");
    assert.ok(graph.nodes.some((n) => n.id === "proto"));
    assert.ok((await client.assistants.getSchemas("agent")).input_schema.properties.messages);
  },
  async "a turn is streamed in each mode, and the thread is what the stream said"() {
    const thread = await client.threads.create({ graphId: "agent" });
    const events = await collect(client.runs.stream(thread.thread_id, "agent", {
      input: human("@oracle what broke?", "h-1"), streamMode: ["values", "messages-tuple", "messages", "updates", "custom"] }));
    assert.equal(events[0].event, "metadata");
    const values = events.filter((e) => e.event === "values");
    assert.deepEqual(values[0].data.messages.map((m) => m.id), ["h-1"]);
    const last = values.at(-1).data;
    const pieces = events.filter((e) => e.event === "messages");
    const id = last.messages[1].id;
    assert.ok(pieces.length > 2 && pieces.every((e) => e.data[0].id === id && e.data[1].langgraph_node === "oracle"));
    assert.equal(pieces.map((e) => e.data[0].content).join(""), last.messages[1].content);
    assert.equal(pieces.at(-1).data[0].response_metadata.finish_reason, "stop");
    assert.ok(events.some((e) => e.event === "messages/partial") && events.some((e) => e.event === "messages/complete"));
    assert.deepEqual(Object.keys(events.find((e) => e.event === "updates").data), ["oracle"]);
    assert.ok(events.some((e) => e.event === "custom" && e.data.type === "dispatch_started"));
    const state = await client.threads.getState(thread.thread_id);
    assert.deepEqual(state.values, last);
    assert.deepEqual(state.next, []);
    const now = await client.threads.get(thread.thread_id);
    assert.equal(now.status, "idle");
    assert.equal(now.metadata.graph_id, "agent");
    const found = await client.threads.search({ metadata: { graph_id: "agent" }, limit: 100 });
    assert.ok(found.some((t) => t.thread_id === thread.thread_id && t.values.messages.length === 2));
  },
  async "what addresses nobody is the lead's turn; a wrong name gets the roster"() {
    const thread = await client.threads.create();
    const answer = await client.runs.wait(thread.thread_id, "agent", { input: human("hello") });
    assert.equal(answer.messages.length, 2);
    assert.equal(answer.messages[1].name, "assistant");
    assert.match(answer.messages[1].content, /demo lead/);
    const roster = await client.runs.wait(thread.thread_id, "agent", { input: human("@prto hi", "h-2") });
    assert.match(roster.messages.at(-1).content, /^Unknown or unreachable delegate: @prto\. Available: proto, reviewer, oracle\./);
    assert.equal(roster.messages.at(-1).name, "room");
    assert.equal(roster.messages.at(-2).id, "h-2");
  },
  async "history, edit and regenerate are branches"() {
    const { thread_id: t } = await client.threads.create();
    await client.runs.wait(t, "agent", { input: human("@oracle one", "e-1") });
    const before = await client.threads.getHistory(t, { limit: 10 });
    assert.deepEqual(before.map((s) => s.values.messages.length), [2, 1, 0]);
    assert.equal(before[2].parent_checkpoint, null);
    const edited = await client.runs.wait(t, "agent", { input: human("@oracle another", "e-2"), checkpoint: before[1].parent_checkpoint });
    assert.deepEqual(edited.messages.map((m) => m.id).slice(0, 1), ["e-2"]);
    assert.equal(edited.messages.length, 2);
    const after = await client.threads.getHistory(t, { limit: 20 });
    const again = await client.runs.wait(t, "agent", { input: null, checkpoint: after[0].parent_checkpoint });
    assert.equal(again.messages.length, 2);
    assert.equal(again.messages[0].id, "e-2");
    assert.notEqual(again.messages[1].id, edited.messages[1].id);
    const old = await client.threads.getState(t, before[0].checkpoint.checkpoint_id);
    assert.deepEqual(texts(old.values)[0], "human: @oracle one");
    const page = await client.threads.getHistory(t, { limit: 1, before: { configurable: { checkpoint_id: before[1].checkpoint.checkpoint_id } } });
    assert.deepEqual(page.map((s) => s.values.messages.length), [0]);
    await assert.rejects(client.threads.getState(t, "nope"), /404/);
  },
  async "state updates replace, append and remove"() {
    const { thread_id: t } = await client.threads.create();
    await client.runs.wait(t, "agent", { input: human("@oracle one", "u-1") });
    await client.threads.updateState(t, { values: { messages: [{ type: "human", id: "u-1", content: "changed" }, { type: "human", id: "u-2", content: "more" }] } });
    const changed = await client.threads.getState(t);
    assert.equal(changed.values.messages[0].content, "changed");
    assert.equal(changed.values.messages.at(-1).id, "u-2");
    await client.threads.updateState(t, { values: { messages: [{ type: "remove", id: "u-2" }] } });
    assert.ok((await client.threads.getState(t)).values.messages.every((m) => m.id !== "u-2"));
  },
  async "runs are listed, joined and cancelled"() {
    const { thread_id: t } = await client.threads.create();
    const run = await client.runs.create(t, "agent", { input: human("@oracle one") });
    const joined = await client.runs.join(t, run.run_id);
    assert.equal(joined.messages.length, 2);
    assert.equal((await client.runs.get(t, run.run_id)).status, "success");
    const replay = await collect(client.runs.joinStream(t, run.run_id, { lastEventId: "-1" }));
    assert.equal(replay[0].event, "metadata");
    assert.equal(replay.at(-1).event, "values");
    const slow = await client.runs.create(t, "agent", { input: human("@oracle two"), afterSeconds: 60 });
    assert.equal((await client.threads.get(t)).status, "busy");
    await assert.rejects(client.runs.create(t, "agent", { input: human("no"), multitaskStrategy: "reject" }), /409/);
    await client.runs.cancel(t, slow.run_id, true);
    assert.equal((await client.runs.get(t, slow.run_id)).status, "interrupted");
    assert.deepEqual((await client.runs.list(t)).map((r) => r.run_id), [slow.run_id, run.run_id]);
    await client.runs.delete(t, slow.run_id);
    await assert.rejects(client.runs.get(t, slow.run_id), /404/);
  },
  async "a second run can interrupt or roll back the first"() {
    const { thread_id: t } = await client.threads.create();
    const first = await client.runs.create(t, "agent", { input: human("@oracle one"), afterSeconds: 60 });
    const answer = await client.runs.wait(t, "agent", { input: human("@oracle two", "i-2"), multitaskStrategy: "interrupt" });
    assert.equal((await client.runs.get(t, first.run_id)).status, "interrupted");
    assert.deepEqual(answer.messages.map((m) => m.id).slice(0, 1), ["i-2"]);
    await client.runs.create(t, "agent", { input: human("@oracle three"), afterSeconds: 60 });
    const rolled = await client.runs.wait(t, "agent", { input: human("@oracle four", "i-4"), multitaskStrategy: "rollback" });
    assert.equal(rolled.messages.length, 4);
  },
  async "a temporary thread goes with its run; others are copied, patched and deleted"() {
    const values = await client.runs.wait(null, "agent", { input: human("@oracle one") });
    assert.equal(values.messages.length, 2);
    const thread = await client.threads.create({ metadata: { a: 1 } });
    await client.runs.wait(thread.thread_id, "agent", { input: human("@oracle one") });
    const patched = await client.threads.update(thread.thread_id, { metadata: { b: { c: 2 } } });
    assert.equal(patched.metadata.a, 1);
    assert.ok((await client.threads.search({ metadata: { b: { c: 2 } } })).length === 1);
    const copy = await client.threads.copy(thread.thread_id);
    assert.deepEqual((await client.threads.getState(copy.thread_id)).values, (await client.threads.getState(thread.thread_id)).values);
    await client.threads.delete(thread.thread_id);
    await assert.rejects(client.threads.get(thread.thread_id), /404/);
    await assert.rejects(client.runs.wait(thread.thread_id, "agent", { input: human("x") }), /404/);
    const named = await client.threads.create({ threadId: "a/b c?", ifExists: "raise" });
    assert.equal((await client.threads.get("a/b c?")).thread_id, named.thread_id);
    await assert.rejects(client.threads.create({ threadId: "a/b c?", ifExists: "raise" }), /409/);
  },
  async "what is not here says so"() {
    const { thread_id: t } = await client.threads.create();
    await assert.rejects(client.runs.wait(t, "agent", { input: human("x"), interruptBefore: ["lead"] }), /422/);
    await assert.rejects(client.runs.wait(t, "agent", { input: human("x"), webhook: "http://127.0.0.1:1" }), /422/);
    await assert.rejects(client.runs.wait(t, "nobody", { input: human("x") }), /404/);
    await assert.rejects(client.crons.search(), /404/);
    await assert.rejects(client.store.getItem(["a"], "b"), /404/);
  },
  async "two voices are named in the text where clients show no names"() {
    const { thread_id: t } = await client.threads.create({ graphId: "agent-named" });
    const values = await client.runs.wait(t, "agent-named", { input: human("@oracle @proto one round?") });
    assert.match(values.messages[2].content, /^\*\*@proto\*\* — /);
  },
};

for (const [name, story] of Object.entries(stories)) {
  if (process.argv[4] && !name.includes(process.argv[4])) continue;
  try {
    await story();
    console.log("ok", name);
  } catch (err) {
    console.log("FAILED", name, "\n", err?.stack ?? err);
    process.exit(1);
  }
}
