// A saver of LangGraph over one of ours: each call is one call of the port, by lines of JSON to the
// program in BRIDGE. What is not a call of the port is marked with "bridge:".
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { BaseCheckpointSaver, TASKS, getCheckpointId, maxChannelVersion } from "@langchain/langgraph-checkpoint";

// A checkpoint beside its channel values: LangGraph's own record.
const RECORD = "__checkpoint__";

export class BridgedSaver extends BaseCheckpointSaver {
  #program = spawn(process.env.BRIDGE, { stdio: ["pipe", "pipe", "inherit"] });
  #waiting = new Map();
  #next = 0;

  constructor() {
    super();
    createInterface({ input: this.#program.stdout }).on("line", (line) => {
      const { call, error, result } = JSON.parse(line);
      const { resolve, reject } = this.#waiting.get(call);
      this.#waiting.delete(call);
      error ? reject(Object.assign(new Error(error.text), { kind: error.kind })) : resolve(result);
    });
  }

  end() {
    const gone = new Promise((resolve) => this.#program.on("exit", resolve));
    this.#program.stdin.end();
    return gone;
  }

  #ask(op, args) {
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#program.stdin.write(JSON.stringify({ call, op, ...args }) + "\n");
    });
  }

  async #dump(value) {
    const [type, data] = await this.serde.dumpsTyped(value);
    return Buffer.concat([Buffer.from(type + "\0"), Buffer.from(data)]).toString("base64");
  }

  async #load(text) {
    const data = Buffer.from(text, "base64");
    const at = data.indexOf(0);
    return this.serde.loadsTyped(data.subarray(0, at).toString(), data.subarray(at + 1));
  }

  async #tuple(cp) {
    const checkpoint = await this.#load(cp.channels[RECORD]);
    checkpoint.channel_values = {};
    // bridge: LangGraph names a checkpoint's channels by their versions, the port by who set them.
    for (const [name, value] of Object.entries(cp.channels)) {
      if (name !== RECORD && name in checkpoint.channel_versions) checkpoint.channel_values[name] = await this.#load(value);
    }
    if (checkpoint.v < 4 && cp.parent) await this.#migrate(checkpoint, cp);
    const config = (id) => ({ configurable: { thread_id: cp.thread, checkpoint_ns: cp.ns, checkpoint_id: id } });
    const writes = cp.writes ?? [];
    const tuple = {
      config: config(cp.id), checkpoint, metadata: cp.metadata,
      pendingWrites: await Promise.all(writes.map(async (w) => [w.task, w.channel, await this.#load(w.value)])),
    };
    if (cp.parent) tuple.parentConfig = config(cp.parent);
    return tuple;
  }

  // bridge: checkpoints of LangGraph's formats before 4 keep their sends with the parent's writes.
  async #migrate(checkpoint, cp) {
    const parent = await this.#ask("get", { thread: cp.thread, ns: cp.ns, id: cp.parent });
    const sends = parent.writes.filter((w) => w.channel === TASKS);
    checkpoint.channel_values[TASKS] = await Promise.all(sends.map((w) => this.#load(w.value)));
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] = versions.length ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async getTuple(config) {
    const { thread_id: thread, checkpoint_ns: ns = "" } = config.configurable;
    if (thread === undefined) return undefined;
    const cp = await this.#ask("get", { thread, ns, id: getCheckpointId(config) });
    return cp ? this.#tuple(cp) : undefined;
  }

  async *list(config, { limit, before, filter } = {}) {
    const { thread_id: thread, checkpoint_ns: ns } = config.configurable ?? {};
    let beforeID = before && getCheckpointId(before);
    const across = thread === undefined && beforeID;
    const found = await this.#ask("list", { thread, ns, filter, before: across ? "" : beforeID, limit: across ? undefined : limit });
    // bridge: across threads the port knows no order of checkpoints; LangGraph compares their ids.
    let left = across && limit !== undefined ? limit : Infinity;
    for (const cp of found) {
      if (across && cp.id >= beforeID) continue;
      if (left-- <= 0) return;
      yield await this.#tuple(cp);
    }
  }

  async put(config, checkpoint, metadata, newVersions) {
    const { thread_id: thread, checkpoint_ns: ns = "", checkpoint_id: parent = "" } = config.configurable;
    if (thread === undefined) throw new Error("no thread_id");
    const { channel_values, ...record } = checkpoint;
    const set = { [RECORD]: await this.#dump(record) };
    const remove = [];
    for (const name of Object.keys(newVersions)) {
      if (channel_values[name] === undefined) remove.push(name);
      else set[name] = await this.#dump(channel_values[name]);
    }
    await this.#ask("put", { thread, ns, parent, id: checkpoint.id, set, remove, metadata });
    return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config, writes, task, path = "") {
    const { thread_id: thread, checkpoint_ns: ns = "", checkpoint_id: id } = config.configurable;
    if (thread === undefined || id === undefined) throw new Error("no thread_id or no checkpoint_id");
    const values = await Promise.all(writes.map(async ([channel, value]) => ({ channel, value: await this.#dump(value) })));
    await this.#ask("writes", { thread, ns, id, task, path, writes: values });
  }

  async deleteThread(thread) {
    await this.#ask("delete", { thread });
  }
}
