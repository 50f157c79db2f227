import type { Entry, Live } from "./types";
import { Store } from "./store";

export interface TalkState {
  entries: Entry[];
  live: Live[];
  busy: boolean;
  loaded: boolean;
  gone: string;
  fault: string;
}

/** Talk is a conversation that the page shows: a thread or a shared session. */
export abstract class Talk<More extends object = object> {
  readonly store: Store<TalkState & More>;
  protected readonly ended = new AbortController();

  constructor(readonly id: string, more: More) {
    this.store = new Store({ entries: [], live: [], busy: false, loaded: false, gone: "", fault: "", ...more } as TalkState & More);
  }

  /** begin loads the conversation and follows it until end. */
  abstract begin(): Promise<void>;
  abstract send(text: string): Promise<void>;
  /** stop ends what is under way; what it returns had not begun and was this window's. */
  abstract stop(): Promise<string[]>;

  end(): void {
    this.ended.abort();
  }

  protected set(change: Partial<TalkState>): void {
    if (!this.ended.signal.aborted) this.store.set(change as Partial<TalkState & More>);
  }

  /** live changes what is shown of an author at work, beginning it where it is not there. */
  protected live(key: string, author: string, change: (l: Live) => Partial<Live>): void {
    const all = this.store.get().live;
    const old = all.find((l) => l.key === key) ?? { key, author, text: "", thought: "", status: "", plan: [], tools: [], since: Date.now() };
    const now = { ...old, ...change(old) };
    this.set({ live: all.some((l) => l.key === key) ? all.map((l) => (l.key === key ? now : l)) : [...all, now] });
  }

  protected dropLive(which: (l: Live) => boolean): void {
    const all = this.store.get().live;
    if (all.some(which)) this.set({ live: all.filter((l) => !which(l)) });
  }

  clearFault = () => this.set({ fault: "" });
}

/** reported takes a report of an author at work. */
export function reported(l: Live, p: { kind: string; text?: string; state?: string }): Partial<Live> {
  const text = p.text ?? "";
  switch (p.kind) {
    case "thought":
      return { thought: l.thought + text };
    case "plan":
      return { plan: text.split("\n").filter(Boolean) };
    case "status":
      return { status: text || p.state || "" };
    case "tool": {
      const known = l.tools.some((x) => x.title === text);
      const tool = { title: text, state: p.state ?? "" };
      return { tools: known ? l.tools.map((x) => (x.title === text ? tool : x)) : [...l.tools, tool].slice(-30) };
    }
  }
  return {};
}

/** pause waits, or ends early with the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) return done();
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}

export const words = (err: unknown): string => (err instanceof Error ? err.message : String(err));
