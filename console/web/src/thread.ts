import type { Entry, Question, Report, Thread as ThreadObject, ThreadMessage } from "./types";
import { answer, Fault, threads } from "./api";
import { alike, askedWith, entryOf, imagesOf, isNote, personSays } from "./entries";
import { before, Replaced } from "./history";
import { pause, reported, Talk, words } from "./talk";
import type { FileBlock } from "./files";
import { t } from "./strings";

interface Pending { run: string; asking?: Promise<unknown>; entry: Entry | null; begun: boolean; answers?: boolean; here?: boolean }

interface More { thread: ThreadObject | null; messages: ThreadMessage[]; summed: boolean; questions: (Question & { run: string })[] }

/** lookEvery is how often the thread's runs are looked at, in ms: turns of other windows and programs begin there. */
const lookEvery = 1500;

/** Thread is a conversation with the lead, one agent or several, on LangGraph's API. */
export class Thread extends Talk<More> {
  private pending: Pending[] = [];
  private followed = new Set<string>();
  private took = new Map<string, number>(); // in seconds, by exchange, round and author
  private made = new Map<string, { of: ThreadMessage; took?: number; entry: Entry }>();
  private updated = "";
  private replaced = new Replaced();

  constructor(id: string, private me: string, private admin: boolean) {
    super(id, { thread: null, messages: [], summed: false, questions: [] });
  }

  async begin(): Promise<void> {
    while (!this.ended.signal.aborted) {
      try {
        await this.look();
        if (this.store.get().fault === t.offline) this.set({ fault: "" });
      } catch (err) {
        if (err instanceof Fault && err.status === 404) return this.set({ gone: t.notFound, loaded: true });
        if (!(err instanceof Fault)) this.set({ fault: t.offline });
        else if (err.status !== 401) this.set({ fault: err.message });
      }
      await pause(document.hidden ? 4 * lookEvery : lookEvery, this.ended.signal);
    }
  }

  /** look reads what has changed and follows every run that is not over. */
  private async look(): Promise<void> {
    const runs = await threads.runs(this.id); // before the messages: what ends in between is in them
    if (!this.store.get().loaded) await this.load();
    const live = runs.filter((r) => r.status === "pending" || r.status === "running").reverse();
    for (const r of live) {
      if (this.followed.has(r.run_id)) continue;
      this.followed.add(r.run_id);
      if (!this.pending.some((p) => p.run === r.run_id)) this.pending.push({ run: r.run_id, entry: askedWith(r, this.me), begun: r.status === "running" });
      void this.follow(r.run_id);
    }
    const newest = runs[0] ? runs[0].run_id + runs[0].status : "";
    if (this.updated && newest !== this.updated && live.length === 0) await this.load();
    this.updated = newest || "none";
    this.shown();
  }

  async load(): Promise<void> {
    const [thread, state] = await Promise.all([this.store.get().thread ?? threads.get(this.id), threads.state(this.id)]);
    this.store.set({ thread });
    const old = new Map(this.store.get().messages.map((m) => [m.id, m]));
    this.take((state.values.messages ?? []).map((m) => (alike(old.get(m.id), m) ? old.get(m.id)! : m)));
    this.set({ loaded: true });
  }

  rename(title: string): Promise<void> {
    return threads.rename(this.id, title).then((thread) => this.store.set({ thread }));
  }

  /** take makes messages the transcript. */
  private take(messages: ThreadMessage[]): void {
    this.store.set({ messages });
    this.pending = this.pending.map((p) => (p.entry && messages.some((m) => m.id === p.entry?.id) ? { ...p, entry: null, begun: true } : p));
    this.shown();
  }

  /** shown puts the transcript and what waits behind it into the store. */
  private shown(): void {
    const asked = new Map<string, string>(); // when, by exchange
    const entries = this.store.get().messages.map((m) => {
      const about = m.additional_kwargs?.metadata;
      if (m.type === "human" && about?.room && about.time) asked.set(about.room.exchange, about.time);
      return this.entry(m, asked.get(about?.room?.exchange ?? ""));
    });
    const waiting = this.pending.filter((p) => p.entry && !entries.some((e) => e.id === p.entry?.id)).map((p, i) => ({ ...(p.entry as Entry), queued: !p.begun && (i > 0 || this.pending.some((q) => q.begun && q !== p)) }));
    const all = [...this.replaced.by(this.store.get().messages), ...entries.filter((e) => e.text || e.images.length || e.files?.length), ...waiting];
    const old = this.store.get();
    const same = all.length === old.entries.length && all.every((e, i) => e === old.entries[i]);
    this.store.set({ summed: this.replaced.hasMore });
    this.set({ entries: same ? old.entries : all, busy: this.pending.length > 0 });
  }

  /** earlier shows what the oldest summary stands for. */
  earlier = async (): Promise<void> => {
    await this.replaced.more(this.id, this.me, this.store.get().messages);
    this.shown();
  };

  /** entry is a message as it is shown; the same one as before where nothing has changed. */
  private entry(m: ThreadMessage, asked?: string): Entry {
    const room = m.additional_kwargs?.metadata?.room;
    const took = room && this.took.get(`${room.exchange} ${room.round} ${m.name}`);
    const old = this.made.get(m.id);
    if (old?.of === m && old.took === took) return old.entry;
    const entry = entryOf(m, this.me, this.id);
    if (entry.kind === "agent") {
      const after = asked && entry.at ? (Date.parse(entry.at) - Date.parse(asked)) / 1000 : undefined;
      entry.spent = { took, after, input: m.usage_metadata?.input_tokens, output: m.usage_metadata?.output_tokens, cost: m.response_metadata?.cost_usd };
    }
    this.made.set(m.id, { of: m, took, entry });
    return entry;
  }

  async send(text: string, fields: object = {}, answers = false, files: FileBlock[] = []): Promise<void> {
    const id = crypto.randomUUID?.() ?? `m-${Date.now()}-${Math.random()}`;
    const content = files.length === 0 ? text : [{ type: "text", text }, ...files];
    const p: Pending = { run: "", entry: { ...personSays(this.me, id, text), images: imagesOf(content), files: files.filter((f) => f.type === "file").map((f) => ({ name: f.name })) }, begun: this.pending.length === 0, answers, here: true };
    await this.start(p, { input: { messages: [{ type: "human", id, content }] }, ...fields });
  }

  /** start asks for a run and follows it. */
  private async start(p: Pending, fields: object): Promise<void> {
    this.pending.push(p);
    this.set({ fault: "" });
    this.shown();
    try {
      // Only an admin can give leave, so only an admin's members ask for it.
      const asking = threads.run(this.id, { config: { configurable: { ask: this.admin, answer: p.answers } }, ...fields });
      p.asking = asking;
      p.run = (await asking).run_id;
    } catch (err) {
      this.pending = this.pending.filter((q) => q !== p);
      this.shown();
      throw err;
    }
    if (this.followed.has(p.run)) return;
    this.followed.add(p.run);
    void this.follow(p.run);
  }

  /** follow shows a run until it is over, joining it again where the line breaks. */
  private async follow(run: string): Promise<void> {
    let last = "-1";
    while (!this.ended.signal.aborted) {
      try {
        for await (const e of threads.follow(this.id, run, last, this.ended.signal)) {
          last = e.id || last;
          await this.happened(run, e.event, e.data);
        }
        break;
      } catch (err) {
        if (this.ended.signal.aborted) return;
        if (err instanceof Fault) break;
        await pause(1000, this.ended.signal);
      }
    }
    this.pending = this.pending.filter((p) => p.run !== run);
    this.store.set({ questions: this.store.get().questions.filter((q) => q.run !== run) });
    if (this.pending.length === 0) this.set({ live: [] });
    await this.load().catch((err) => this.set({ fault: words(err) }));
  }

  private async happened(run: string, event: string, data: unknown): Promise<void> {
    const p = this.pending.find((q) => q.run === run);
    if (p && !p.begun && event !== "metadata") {
      p.begun = true;
      this.shown();
    }
    switch (event) {
      case "values":
        return this.take((data as { messages?: ThreadMessage[] }).messages ?? []);
      case "messages": {
        const [piece, facts] = data as [{ id: string; content: string; name?: string }, { langgraph_node?: string }];
        const name = facts.langgraph_node ?? piece.name ?? t.assistant;
        if (typeof piece.content === "string" && piece.content) this.live(name, name, (l) => ({ id: piece.id, text: (l.id === piece.id ? l.text : "") + piece.content }));
        return;
      }
      case "updates":
        for (const node of Object.values(data as Record<string, { messages?: ThreadMessage[] }>)) this.added(node?.messages ?? []);
        return;
      case "custom":
        return this.report(run, data as Report);
      case "error":
        this.set({ fault: String((data as { message?: string }).message) });
    }
  }

  /** added puts messages that now stand on the thread into the transcript, by their ids. */
  private added(fresh: ThreadMessage[]): void {
    const all = [...this.store.get().messages];
    for (const m of fresh) {
      const asked = this.pending.find((p) => p.entry && p.begun)?.entry;
      if (asked && !all.some((x) => x.id === asked.id)) all.push({ id: asked.id, type: "human", content: asked.text });
      const i = all.findIndex((x) => x.id === m.id);
      if (i >= 0) all[i] = m;
      else all.push(m);
      this.dropLive((l) => l.id === m.id || l.author === m.name);
    }
    this.take(all);
  }

  private report(run: string, e: Report): void {
    const name = e.member ?? t.assistant;
    if (e.type === "dispatch_started") {
      this.live(name, name, () => ({ round: e.round, text: "", thought: "", status: "", plan: [], tools: [], since: Date.now(), stops: true }));
    } else if (e.type === "dispatch_ended") {
      this.dropLive((l) => l.author === name && !l.text);
      const o = e.outcome;
      if (o) this.took.set(`${e.exchange} ${e.round} ${name}`, o.duration_ns / 1e9);
      this.shown();
    } else if (e.type === "progress" && e.progress) {
      const p = e.progress;
      this.live(name, name, (l) => ({ round: e.round, ...reported(l, p) }));
    } else if (e.type === "question" && e.question) {
      this.store.set({ questions: [...this.without(e.question.id), { ...e.question, member: name, run }] });
    } else if (e.type === "answered" && e.question) {
      this.store.set({ questions: this.without(e.question.id) });
    } else if (e.type === "tool_call") {
      this.live("lead", t.assistant, (l) => reported(l, { kind: "tool", text: e.text }));
    } else if (e.type === "notice") {
      this.live("lead", t.assistant, (l) => reported(l, { kind: "status", text: e.text }));
    }
  }

  private without(question: string) {
    return this.store.get().questions.filter((q) => q.id !== question);
  }

  /** give answers what a member asks leave for. Where somebody was first, that is told. */
  give = async (question: string, choice: string): Promise<void> => {
    try {
      await answer(this.id, question, choice);
    } finally {
      this.store.set({ questions: this.without(question) });
    }
  };

  /** stop cancels what runs and what waits. */
  async stop(): Promise<string[]> {
    const waiting = this.pending.filter((p) => p.here && !p.begun && p.entry).map((p) => p.entry!.text);
    for (const p of [...this.pending].reverse()) {
      await p.asking?.catch(() => null); // what is just being sent is stopped too
      if (p.run) await threads.cancel(this.id, p.run);
    }
    return waiting;
  }

  /** stopOne stops one member; the turn goes on with the others. */
  stopOne = async (member: string): Promise<void> => {
    try {
      await threads.stop(this.id, member);
    } catch (err) {
      if (!(err instanceof Fault && err.code === "not_asked")) throw err; // it has answered meanwhile
    }
  };

  async resend(id: string, text: string): Promise<void> {
    await this.send(text, await before(this.id, id));
  }

  /** retry takes the turn again that an answer came of. */
  async retry(id: string): Promise<void> {
    const place = await before(this.id, id);
    await this.start({ run: "", entry: null, begun: true }, { input: null, ...place });
  }

  private from(id: string): { type: string; id: string }[] {
    const all = this.store.get().messages;
    return all.slice(all.findIndex((m) => m.id === id)).filter((m) => !this.isAside(m.id)).map((m) => ({ type: "remove", id: m.id }));
  }

  /** isAside reports whether a message is the room's own or what it answers: those stand beside the thread. */
  isAside(id: string): boolean {
    const all = this.store.get().messages;
    const at = all.findIndex((m) => m.id === id);
    const m = all[at];
    return !!m && (isNote(m) || (m.type === "human" && !m.additional_kwargs?.metadata?.room && !!all[at + 1] && isNote(all[at + 1])));
  }

  /** rewind takes back a message and all after it. */
  async rewind(id: string): Promise<void> {
    await threads.update(this.id, this.from(id));
    await this.load();
  }

  /** fork makes a thread of its own that ends with a message. */
  async fork(id: string): Promise<string> {
    const drop = this.from(id).slice(1);
    const copy = await threads.copy(this.id);
    if (drop.length) await threads.update(copy.thread_id, drop);
    return copy.thread_id;
  }

  remove(): Promise<unknown> {
    return threads.remove(this.id);
  }
}
