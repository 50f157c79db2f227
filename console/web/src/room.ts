import type { Entry, RoomDetail, RoomMessage } from "./types";
import { Fault, rooms } from "./api";
import { pause, reported, Talk } from "./talk";
import { t } from "./strings";

interface More { room: RoomDetail | null; hasEarlier: boolean }

/** page is how many messages are read at once. */
const page = 200;

/** Session is a shared session. */
export class Session extends Talk<More> {
  constructor(id: string, private me: string) {
    super(id, { room: null, hasEarlier: false });
  }

  async begin(): Promise<void> {
    let last = "";
    while (!this.ended.signal.aborted) {
      try {
        if (!last) {
          last = await this.load();
          this.set({ fault: "" });
        }
        for await (const e of rooms.follow(this.id, last, this.ended.signal)) {
          last = e.id || last;
          this.set({ fault: "" });
          if (this.happened(e.event, e.data)) return;
        }
      } catch (err) {
        if (this.ended.signal.aborted) return;
        if (err instanceof Fault && err.status === 404) {
          const off = typeof (err.body as { detail?: unknown }).detail === "string";
          return this.set({ gone: off ? t.roomGone : t.notFound, loaded: true });
        }
        if (!(err instanceof Fault)) this.set({ fault: t.offline });
        last = "";
      }
      await pause(1000, this.ended.signal);
    }
  }

  private async load(): Promise<string> {
    const head = await rooms.read(this.id, "limit=1");
    const room = await rooms.read(this.id, `limit=${page}&since=${Math.max(0, head.head_seq - page)}`);
    const live = room.working.map((w) => ({ key: w.wake, wake: w.wake, author: w.agent, text: "", thought: "", status: "", plan: [], tools: [], since: Date.parse(w.since), queued: w.state === "queued" }));
    this.store.set({ room, hasEarlier: (room.messages[0]?.seq ?? 1) > 1 });
    this.set({ entries: room.messages.map((m) => this.entry(m)), live, busy: live.length > 0, loaded: true });
    return `${room.messages[room.messages.length - 1]?.seq ?? 0}`;
  }

  /** earlier reads the page before the first message that is shown. */
  async earlier(): Promise<void> {
    const { entries } = this.store.get();
    const first = Number(entries[0]?.id.slice(1) ?? 0);
    const r = await rooms.read(this.id, `limit=${page}&before=${first}`);
    this.store.set({ hasEarlier: (r.messages[0]?.seq ?? 1) > 1 });
    this.set({ entries: [...r.messages.map((m) => this.entry(m)), ...entries] });
  }

  private entry(m: RoomMessage): Entry {
    const system = m.kind === "system" || !m.sender;
    const mine = m.sender?.kind === "user" && m.sender.name === this.me;
    return { id: `s${m.seq}`, author: system ? "room" : m.sender!.name, kind: system ? "note" : m.sender!.kind === "user" ? "person" : "agent", mine,
      text: m.content, images: [], at: m.created_at, cost: m.cost_usd ?? undefined, late: m.late, failed: m.failed };
  }

  /** happened takes an event; true means that nothing more is to be had. */
  private happened(event: string, data: unknown): boolean {
    switch (event) {
      case "message": {
        const m = data as RoomMessage;
        const e = this.entry(m);
        const { entries } = this.store.get();
        if (!entries.some((x) => x.id === e.id)) this.set({ entries: [...entries, e] });
        if (m.wake) this.dropLive((l) => l.key === m.wake);
        void this.refresh();
        break;
      }
      case "wake": {
        const w = data as { id: string; agent: string; state: string };
        if (w.state === "queued" || w.state === "running") this.live(w.id, w.agent, (l) => ({ wake: w.id, queued: w.state === "queued", since: l.queued ? Date.now() : l.since }));
        else this.dropLive((l) => l.key === w.id);
        break;
      }
      case "partial": {
        const p = data as { wake: string; agent: string; text: string };
        this.live(p.wake, p.agent, () => ({ wake: p.wake, text: p.text, queued: false }));
        break;
      }
      case "progress": {
        const p = data as { wake: string; agent: string; kind: string; text: string; state: string };
        this.live(p.wake, p.agent, (l) => ({ wake: p.wake, queued: false, ...reported(l, p) }));
        break;
      }
      case "room":
        void this.refresh();
        break;
      case "gone":
        this.set({ gone: t.notFound });
        return true;
    }
    this.set({ busy: this.store.get().live.length > 0 });
    return false;
  }

  /** refresh reads the room's own state, and so says that its messages are read. */
  private async refresh(): Promise<void> {
    const entries = this.store.get().entries;
    const last = Number(entries[entries.length - 1]?.id.slice(1) ?? 1);
    try {
      const room = await rooms.read(this.id, `limit=1&since=${last - 1}`);
      this.store.set({ room });
    } catch {
      // the next event brings another try
    }
  }

  async send(text: string): Promise<void> {
    if ([...text].length > 8000) throw new Error(t.tooLarge);
    await rooms.post(this.id, text);
  }

  async stop(): Promise<string[]> {
    for (const l of this.store.get().live) if (l.wake) await this.stopOne(l.wake);
    return [];
  }

  stopOne = async (wake: string): Promise<void> => {
    try {
      await rooms.stop(this.id, wake);
    } catch (err) {
      if (!(err instanceof Fault && err.status === 404)) throw err; // it has ended by itself
    }
  };

  /** change asks for a change of the room and shows it. */
  async change(ask: Promise<unknown>): Promise<void> {
    await ask;
    await this.refresh();
  }
}
