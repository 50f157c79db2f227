import type { Delegate, Found, Room, Thread, Title } from "./types";
import { delegates, Fault, rooms, threads } from "./api";
import { textOf } from "./entries";
import { local, Store } from "./store";
import { pause } from "./talk";
import { t } from "./strings";

/** Row is a conversation in the rail. */
export interface Row {
  kind: "thread" | "room"; id: string; title: string; at: string; agents: string[];
  unread: number; mentions: number; fresh: boolean; starred: boolean; busy: boolean; closed: boolean; topic?: string;
  /** found is what was said in it of what is searched for. */
  found?: string;
}

interface Lists { rows: Row[]; sessions: boolean; roster: Delegate[]; loaded: boolean }

export const lists = new Store<Lists>({ rows: [], sessions: true, roster: [], loaded: false });

const stars = () => new Set(local.get("stars").split("\n").filter(Boolean));
const seen = () => JSON.parse(local.get("seen") || "{}") as Record<string, string>;

export function star(id: string): void {
  const all = stars();
  if (!all.delete(id)) all.add(id);
  local.set("stars", [...all].join("\n"));
  lists.set({ rows: sorted(lists.get().rows.map((r) => (r.id === id ? { ...r, starred: all.has(id) } : r))) });
}

/** looked remembers that a conversation is looked at now. */
export function looked(id: string): void {
  local.set("seen", JSON.stringify({ ...seen(), [id]: new Date().toISOString() }));
  const { rows } = lists.get();
  if (rows.some((r) => r.id === id && r.fresh)) lists.set({ rows: rows.map((r) => (r.id === id ? { ...r, fresh: false } : r)) });
}

function sorted(rows: Row[]): Row[] {
  return rows.sort((a, b) => Number(b.starred) - Number(a.starred) || b.at.localeCompare(a.at));
}

/** agentOf is the agent of a one-to-one thread; "" means the lead's. */
export const agentOf = (th: Thread | null): string => (typeof th?.metadata.agent === "string" ? th.metadata.agent : "");

export function titleOf(th: Thread): string {
  if (typeof th.metadata.title === "string" && th.metadata.title) return th.metadata.title;
  const first = th.values?.messages?.find((m) => m.type === "human" && !m.additional_kwargs?.metadata?.room?.incognito);
  const said = first ? textOf(first.content).trim().split("\n")[0] : "";
  const line = (said.replace(/^(@\S+\s+)+/, "") || said).slice(0, 80);
  return line || (th.values?.messages?.length ? th.thread_id : t.untitled);
}

function rowOfThread(th: Thread, starred: boolean, last: string | undefined): Row {
  const called = known.get(th.thread_id)?.of;
  const given = typeof th.metadata.title === "string" ? th.metadata.title : "";
  return { kind: "thread", id: th.thread_id, title: given || called?.title || (called?.agents.length ? th.thread_id : t.untitled), at: th.updated_at, agents: agentOf(th) ? [agentOf(th)] : (called?.agents ?? []),
    unread: 0, mentions: 0, fresh: last !== undefined && last < th.updated_at, starred, busy: th.status === "busy", closed: false };
}

function rowOfRoom(r: Room, starred: boolean): Row {
  return { kind: "room", id: r.id, title: r.name, at: r.last_message_at ?? r.created_at, agents: r.agents, unread: r.unread, mentions: r.unread_mentions, fresh: false,
    starred, busy: false, closed: r.status === "closed", topic: r.topic ?? "" };
}

/** known is what threads are called, as of their last change. */
const known = new Map<string, { at: string; of: Title }>();

/** listThreads asks for the titles of those threads alone that have changed. */
async function listThreads(): Promise<Thread[]> {
  const all = (await threads.list()).filter((th) => th.metadata.kind !== "room");
  const stale = all.filter((th) => known.get(th.thread_id)?.at !== th.updated_at);
  if (stale.length) {
    const at = new Map(stale.map((th) => [th.thread_id, th.updated_at]));
    for (const of of await threads.titles([...at.keys()])) known.set(of.thread_id, { at: at.get(of.thread_id) ?? "", of });
  }
  return all;
}

/** refresh reads what the rail shows. */
export async function refresh(): Promise<void> {
  const [all, sessions] = await Promise.all([listThreads(), listRooms()]);
  const starred = stars();
  const before = seen();
  const rows = all.map((th) => rowOfThread(th, starred.has(th.thread_id), before[th.thread_id]));
  for (const r of sessions ?? []) rows.push(rowOfRoom(r, starred.has(r.id)));
  lists.set({ rows: sorted(rows), sessions: sessions !== null, loaded: true });
}

/** listRooms is null where there are no shared sessions. */
async function listRooms(): Promise<Room[] | null> {
  try {
    return await rooms.list();
  } catch (err) {
    if (err instanceof Fault && err.status === 404) return null;
    throw err;
  }
}

export async function readRoster(): Promise<void> {
  lists.set({ roster: await delegates.list() });
}

/** matching are the rows whose names hold a text, or in which it was said; those that are too old for the rail come last. */
export function matching(rows: Row[], text: string, said: Found[]): Row[] {
  const wanted = text.toLowerCase();
  const holds = (s: string | undefined) => !!s?.toLowerCase().includes(wanted);
  const left = new Map(said.map((f) => [f.thread_id, f]));
  const all = rows.flatMap((r): Row[] => {
    const f = left.get(r.id);
    left.delete(r.id);
    return f || holds(r.title) || holds(r.topic) || r.agents.some(holds) ? [{ ...r, found: f?.excerpt }] : [];
  });
  for (const f of left.values()) all.push({ kind: f.kind, id: f.thread_id, title: f.excerpt, at: f.time, agents: f.author ? [f.author] : [], unread: 0, mentions: 0, fresh: false, starred: false, busy: false, closed: false });
  return all;
}

/** keep keeps the rail fresh until the signal. */
export async function keep(signal: AbortSignal): Promise<void> {
  await readRoster().catch(() => {});
  for (let n = 1; !signal.aborted; n++) {
    if (!document.hidden || !lists.get().loaded) await refresh().catch(() => {});
    if (n % 6 === 0) await readRoster().catch(() => {}); // the file may have been changed
    await pause(5000, signal);
  }
}
