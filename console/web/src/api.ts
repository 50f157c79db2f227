import type * as T from "./types";

/** Fault is an answer of the server that is not the one hoped for. */
export class Fault extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly body: unknown) {
    super(message);
  }
}

let signedOut = () => {};
/** onSignedOut registers who is told when the server wants a key. */
export function onSignedOut(f: () => void) {
  signedOut = f;
}

async function fault(r: Response): Promise<Fault> {
  let body: { detail?: string | { code?: string; message?: string } } = {};
  try {
    body = await r.json();
  } catch {
    // not ours: the status says enough
  }
  const d = body.detail;
  const words = typeof d === "string" ? d : (d?.message ?? `${r.status} ${r.statusText}`);
  if (r.status === 401) signedOut();
  return new Fault(r.status, typeof d === "object" ? (d?.code ?? "") : "", words, body);
}

/** call sends a request and reads its JSON. A request that was rate-limited waits and goes again. */
export async function call<R>(method: string, path: string, body?: unknown, more: { signal?: AbortSignal; key?: string } = {}): Promise<R> {
  for (let tries = 0; ; tries++) {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (more.key) headers["Idempotency-Key"] = more.key;
    const r = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: more.signal });
    if (r.status === 429 && tries < 3) {
      await new Promise((done) => setTimeout(done, 1000 * Number(r.headers.get("Retry-After") ?? 1)));
      continue;
    }
    if (!r.ok) throw await fault(r);
    const text = await r.text();
    return (text ? JSON.parse(text) : undefined) as R;
  }
}

const seg = encodeURIComponent;

export interface ServerEvent { event: string; id: string; data: unknown }

/** events reads a stream of server-sent events until it closes. */
export async function* events(path: string, after: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const r = await fetch(path, { headers: { "Last-Event-ID": after, Accept: "text/event-stream" }, signal });
  if (!r.ok || !r.body) throw await fault(r);
  const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const e = parse(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (e) yield e;
    }
  }
}

function parse(block: string): ServerEvent | null {
  const e = { event: "message", id: "", data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "event") e.event = value;
    else if (field === "id") e.id = value;
    else if (field === "data") e.data += e.data ? "\n" + value : value;
  }
  return e.data ? { ...e, data: JSON.parse(e.data) as unknown } : null;
}

export const threads = {
  list: () => call<T.Thread[]>("POST", "/threads/search", { limit: 200, sort_by: "updated_at", select: ["thread_id", "created_at", "updated_at", "status", "metadata"] }),
  titles: (ids: string[]) => call<{ titles: T.Title[] }>("POST", "/api/threads/titles", { ids }).then((r) => r.titles),
  create: (metadata: object) => call<T.Thread>("POST", "/threads", { metadata }),
  get: (id: string) => call<T.Thread>("GET", `/threads/${seg(id)}`),
  state: (id: string) => call<T.ThreadState>("GET", `/threads/${seg(id)}/state`),
  stateAt: (id: string, checkpoint: string) => call<T.ThreadState>("GET", `/threads/${seg(id)}/state/${seg(checkpoint)}`),
  history: (id: string, before?: string) => call<T.ThreadState[]>("POST", `/threads/${seg(id)}/history`, { limit: 20, before }),
  update: (id: string, messages: unknown[]) => call("POST", `/threads/${seg(id)}/state`, { values: { messages } }),
  copy: (id: string) => call<T.Thread>("POST", `/threads/${seg(id)}/copy`),
  rename: (id: string, title: string) => call<T.Thread>("PATCH", `/threads/${seg(id)}`, { metadata: { title } }),
  remove: (id: string) => call("DELETE", `/threads/${seg(id)}`),
  runs: (id: string) => call<T.Run[]>("GET", `/threads/${seg(id)}/runs?limit=20`),
  run: (id: string, fields: object) =>
    call<T.Run>("POST", `/threads/${seg(id)}/runs`, { assistant_id: "agent", stream_mode: ["messages-tuple", "updates", "custom"], ...fields }),
  cancel: (id: string, run: string) => call("POST", `/threads/${seg(id)}/runs/${seg(run)}/cancel`),
  uncompact: (id: string) => call<{ restored: number }>("POST", `/api/threads/${seg(id)}/uncompact`),
  stop: (id: string, member: string) => call("POST", `/api/threads/${seg(id)}/stop`, { member }),
  compact: (id: string, keep: number, summary: string) => call<{ replaced: number }>("POST", `/api/threads/${seg(id)}/compact`, { keep, summary }),
  costs: (id: string) => call<T.Costs>("GET", `/api/threads/${seg(id)}/costs`),
  follow: (id: string, run: string, after: string, signal: AbortSignal) => events(`/threads/${seg(id)}/runs/${seg(run)}/stream`, after, signal),
};

export const rooms = {
  list: () => call<{ rooms: T.Room[] }>("GET", "/api/rooms?limit=200").then((r) => r.rooms),
  create: (fields: object) => call<T.Room>("POST", "/api/rooms", fields),
  read: (id: string, query: string) => call<T.RoomDetail>("GET", `/api/rooms/${seg(id)}?${query}`),
  post: (id: string, content: string) => call("POST", `/api/rooms/${seg(id)}/messages`, { content }, { key: crypto.randomUUID?.() ?? String(Math.random()) }),
  patch: (id: string, fields: object) => call<T.Room>("PATCH", `/api/rooms/${seg(id)}`, fields),
  close: (id: string) => call("POST", `/api/rooms/${seg(id)}/close`),
  invite: (id: string, kind: "agent" | "user", name: string) => call("POST", `/api/rooms/${seg(id)}/participants`, { kind, name }),
  remove: (id: string, kind: "agent" | "user", name: string) => call("DELETE", `/api/rooms/${seg(id)}/participants/${seg(name)}?kind=${kind}`),
  stop: (id: string, wake: string) => call("POST", `/api/rooms/${seg(id)}/wakes/${seg(wake)}/stop`),
  follow: (id: string, since: string, signal: AbortSignal) => events(`/api/rooms/${seg(id)}/events`, since, signal),
};

/** search finds the conversations in which a text was said. */
export const search = (text: string, signal: AbortSignal) => call<{ found: T.Found[]; more: boolean }>("GET", `/api/search?limit=50&q=${seg(text)}`, undefined, { signal });

export const session = () => call<T.Session>("GET", "/signin?json");

/** mentions has the server's parser read a text; cursor counts UTF-16 units, as the browser does. */
export const mentions = (text: string, cursor: number, anywhere: boolean, signal: AbortSignal) =>
  call<T.Mentions>("GET", `/api/mentions?at=${anywhere ? "anywhere" : "start"}&q=${seg(text.slice(0, cursor))}&text=${seg(text.slice(0, 2000))}`, undefined, { signal });

/** answer answers what a member asks leave for; the first answer counts. */
export const answer = (thread: string, question: string, choice: string) => call("POST", `/api/threads/${seg(thread)}/questions/${seg(question)}`, { answer: choice });

export const delegates = {
  list: () => call<{ delegates: T.Delegate[] }>("GET", "/api/delegates").then((r) => r.delegates),
  types: () => call<{ types: T.DelegateType[]; version: string }>("GET", "/api/delegate-types"),
  get: (name: string) => call<T.DelegateEntry>("GET", `/api/delegates/${seg(name)}`),
  add: (version: string, name: string, type: string, values: object) => call<T.DelegateEntry>("POST", "/api/delegates", { version, name, type, values }),
  change: (name: string, version: string, values: object) => call<T.DelegateEntry>("PUT", `/api/delegates/${seg(name)}`, { version, values }),
  remove: (name: string, version: string) => call("DELETE", `/api/delegates/${seg(name)}?version=${seg(version)}`),
  probe: (name: string) => call<T.Probe>("POST", `/api/delegates/${seg(name)}/probe`),
};

export const settings = {
  read: () => call<T.Settings>("GET", "/api/settings"),
  save: (version: string, values: Record<string, unknown>) => call<T.Settings>("PUT", "/api/settings", { version, values }),
};
