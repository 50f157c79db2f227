import type { Block, Entry, Run, ThreadMessage } from "./types";
import { isPicture } from "./files";
import { t } from "./strings";

/** isNote reports whether the room itself says m: it is in no window and cannot be taken back. */
export function isNote(m: ThreadMessage): boolean {
  return m.type === "ai" && m.name === "room" && !m.additional_kwargs?.metadata?.room;
}

export function textOf(content: string | Block[]): string {
  if (typeof content === "string") return content;
  return content.filter((b) => b.type === "text").map((b) => b.text ?? "").join("\n\n");
}

export function imagesOf(content: string | Block[]): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((b) => {
    if (b.data && b.mime_type?.startsWith("image/")) return [`data:${b.mime_type};base64,${b.data}`];
    const url = typeof b.image_url === "string" ? b.image_url : (b.image_url as { url?: string } | undefined)?.url;
    return url?.startsWith("data:image/") ? [url] : [];
  });
}

/** entryOf is a message as the transcript shows it. */
export function entryOf(m: ThreadMessage, me: string, thread: string): Entry {
  const about = m.additional_kwargs?.metadata;
  const e: Entry = { id: m.id, author: m.name ?? t.assistant, kind: "agent", text: textOf(m.content), images: imagesOf(m.content), at: about?.time, summary: !!about?.summary || undefined, ...about?.room };
  const own = e.images.length > 0; // those that were sent are in the message itself
  for (const f of about?.files ?? []) {
    const href = `/api/threads/${encodeURIComponent(thread)}/files/${encodeURIComponent(m.id)}/${f.n}`;
    if (!isPicture(f.type)) e.files = [...(e.files ?? []), { name: f.name, bytes: f.bytes, href }];
    else if (!own) e.images.push(href);
  }
  if (m.type === "human") return { ...e, author: me, kind: "person", mine: true, round: undefined };
  if (isNote(m) || m.type === "system") return { ...e, author: m.name ?? "system", kind: "note" };
  if (m.type === "tool") return { ...e, author: m.name ?? "tool", kind: "tool" };
  return e;
}

export const alike = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export function personSays(me: string, id: string, text: string): Entry {
  return { id, author: me, kind: "person", text, images: [], mine: true };
}

/** askedWith is what a run that waits was asked with. */
export function askedWith(r: Run, me: string): Entry | null {
  let m = r.kwargs.input?.messages;
  if (Array.isArray(m)) m = m[m.length - 1];
  if (typeof m === "string") return personSays(me, r.run_id, m);
  const one = m as { id?: string; content?: string | Block[] } | undefined;
  return one?.content ? { ...personSays(me, one.id ?? r.run_id, textOf(one.content)), images: imagesOf(one.content) } : null;
}
