import type { Entry, ThreadMessage } from "./types";
import { threads } from "./api";
import { entryOf } from "./entries";
import { t } from "./strings";

/** before is the checkpoint in front of a message: a turn from it is a branch without the message. It goes back
 * from the head as far as it must, since every state holds all messages. */
export async function before(thread: string, id: string): Promise<{ checkpoint: { checkpoint_id: string } }> {
  let page = await threads.history(thread);
  const known = new Map(page.map((s) => [s.checkpoint?.checkpoint_id, s]));
  for (let at = page[0]; at?.parent_checkpoint; ) {
    const parent = at.parent_checkpoint.checkpoint_id;
    while (!known.has(parent) && page.length > 0) {
      page = await threads.history(thread, page[page.length - 1].checkpoint?.checkpoint_id);
      for (const s of page) known.set(s.checkpoint?.checkpoint_id, s);
    }
    const older = known.get(parent);
    if (!older?.values.messages?.some((m) => m.id === id)) return { checkpoint: at.parent_checkpoint };
    at = older;
  }
  throw new Error(t.notFound);
}

/** Replaced is what the summary in a thread stands for, as far as it was asked for. */
export class Replaced {
  private of = ""; // the summary's id
  private next = ""; // the oldest summary, behind which there is more
  private entries: Entry[] = [];

  get hasMore(): boolean {
    return this.next !== "";
  }

  /** by is what has been read of what the summary among messages stands for. */
  by(messages: ThreadMessage[]): Entry[] {
    const summary = messages.find((m) => m.additional_kwargs?.metadata?.summary)?.id ?? "";
    if (this.of !== summary) [this.of, this.next, this.entries] = [summary, summary, []];
    return this.entries;
  }

  /** more reads what the oldest summary stands for: the history has it. */
  async more(thread: string, me: string, messages: ThreadMessage[]): Promise<void> {
    const { of, next } = this;
    const { checkpoint } = await before(thread, next);
    const then = (await threads.stateAt(thread, checkpoint.checkpoint_id)).values.messages ?? [];
    if (this.of !== of || this.next !== next) return; // there is another summary meanwhile
    const there = new Set([...messages.map((m) => m.id), ...this.entries.map((e) => e.id)]);
    const found = then.filter((m) => !there.has(m.id)).map((m) => ({ ...entryOf(m, me, thread), past: true }));
    this.entries = [...found.filter((e) => e.text || e.images.length || e.files?.length), ...this.entries];
    this.next = found.find((e) => e.summary)?.id ?? "";
  }
}
