// What docs/langgraph.md says of LangGraph, asked of LangGraph's own saver in memory.
import { MemorySaver, emptyCheckpoint } from "@langchain/langgraph-checkpoint";

const at = (checkpoint_id, thread_id = "t", checkpoint_ns = "") => ({ configurable: { thread_id, checkpoint_ns, checkpoint_id } });
const meta = (more = {}) => ({ source: "loop", step: 0, parents: {}, ...more });
const put = (saver, parent, id, more, values = {}) => saver.put(at(parent), { ...emptyCheckpoint(), id, channel_values: values }, meta(more), {});
async function all(found) {
  const tuples = [];
  for await (const tuple of found) tuples.push(tuple);
  return tuples;
}
const ids = async (found) => (await all(found)).map((tuple) => tuple.checkpoint.id);

let saver;
beforeEach(() => { saver = new MemorySaver(); });

it("the newest checkpoint: the greatest id, as text", async () => {
  await put(saver, undefined, "b");
  await put(saver, "b", "a");
  expect((await saver.getTuple(at())).checkpoint.id).toBe("b");
});

it("before: ids less than the given one, as text, also of an unknown one", async () => {
  for (const id of ["a", "b", "c"]) await put(saver, undefined, id);
  expect(await ids(saver.list(at(), { before: at("c") }))).toEqual(["b", "a"]);
  expect(await ids(saver.list(at(), { before: at("bb") }))).toEqual(["b", "a"]);
});

it("a second put of an id that is there: replaces it", async () => {
  await put(saver, undefined, "a", { step: 1 });
  await put(saver, undefined, "a", { step: 2 });
  expect((await saver.getTuple(at("a"))).metadata.step).toBe(2);
});

it("a put after a checkpoint that is not the newest, and after an unknown parent: stored", async () => {
  await put(saver, undefined, "a");
  await put(saver, "a", "b");
  await put(saver, "a", "c");
  await put(saver, "nowhere", "d");
  expect(await ids(saver.list(at()))).toEqual(["d", "c", "b", "a"]);
  expect((await saver.getTuple(at("d"))).parentConfig.configurable.checkpoint_id).toBe("nowhere");
});

it("writes: they may come before their checkpoint, the first of an ordinary place stays, the last of a special one", async () => {
  await saver.putWrites(at("a"), [["x", 1], ["__error__", "first"]], "task");
  await saver.putWrites(at("a"), [["x", 2], ["__error__", "last"]], "task");
  await put(saver, undefined, "a");
  const writes = (await saver.getTuple(at("a"))).pendingWrites;
  expect(writes).toContainEqual(["task", "x", 1]);
  expect(writes).not.toContainEqual(["task", "x", 2]);
  expect(writes).toContainEqual(["task", "__error__", "last"]);
});

it("order of pending writes: by the task's path, its id, then index", async () => {
  await put(saver, undefined, "a");
  await saver.putWrites(at("a"), [["x", 3], ["x", 4]], "first", "~2");
  await saver.putWrites(at("a"), [["x", 2]], "z", "~1");
  await saver.putWrites(at("a"), [["x", 1]], "y", "~1");
  expect((await saver.getTuple(at("a"))).pendingWrites.map((w) => w[2])).toEqual([1, 2, 3, 4]);
});

it("no limit and limit 0: all, and none; a filter with several keys: all must be equal", async () => {
  await put(saver, undefined, "a", { run: 1, kind: "x" });
  await put(saver, "a", "b", { run: 1, kind: "y" });
  expect(await ids(saver.list(at()))).toEqual(["b", "a"]);
  expect(await ids(saver.list(at(), { limit: 0 }))).toEqual([]);
  expect(await ids(saver.list(at(), { filter: { run: 1, kind: "y" } }))).toEqual(["b"]);
});

it("no namespace in a query: every one", async () => {
  await saver.put(at(undefined, "t", ""), { ...emptyCheckpoint(), id: "a" }, meta(), {});
  await saver.put(at(undefined, "t", "child"), { ...emptyCheckpoint(), id: "b" }, meta(), {});
  expect((await ids(saver.list({ configurable: { thread_id: "t" } }))).sort()).toEqual(["a", "b"]);
  expect(await ids(saver.list(at()))).toEqual(["a"]);
});

it("list with writes: always", async () => {
  await put(saver, undefined, "a");
  await saver.putWrites(at("a"), [["x", 1]], "task");
  expect((await all(saver.list(at())))[0].pendingWrites).toEqual([["task", "x", 1]]);
});
