import { useState } from "preact/hooks";
import type { Entry } from "./types";
import { Markdown } from "./body";
import { visible } from "./markdown";
import { memo } from "./memo";
import { Menu, type Action } from "./menu";
import { Avatar, Name } from "./voice";
import { t } from "./strings";

/** rounds is the round that begins with e, 0 where none does. */
export function rounds(before: Entry | undefined, e: Entry): number {
  if (!e.round || e.kind !== "agent") return 0;
  const same = before?.exchange === e.exchange && before?.round === e.round && before?.kind === "agent";
  return same || (e.round === 1 && before?.kind === "person") ? 0 : e.round;
}

/** Message is something that was said. */
export const Message = memo(function Message({ entry: e, head, actions }: { entry: Entry; head: number; actions: (e: Entry) => Action[] }) {
  const [spent, setSpent] = useState(false);
  const all = () => [...actions(e), ...(e.spent ? [{ label: spent ? t.hideSpent : t.showSpent, do: () => setSpent(!spent) }] : [])];
  const classes = ["message", e.kind, e.mine ? "mine" : "", e.failed ? "failed" : "", e.queued ? "queued" : ""].join(" ");
  return (
    <>
      {head > 0 && <p class="round"><span>{t.round(head)}</span></p>}
      <article class={classes} aria-label={e.author} data-id={e.id}>
        {e.kind !== "note" && <Avatar name={e.author} />}
        <div class="bubble">
          <header>
            <Name name={e.author} plain={e.kind === "note"} />
            {e.mine && <span class="hint">({t.you})</span>}
            {e.kind === "note" && <span class="tag">{e.summary ? t.summary : t.note}</span>}
            {e.queued && <span class="tag" title={t.queuedHint}>{t.queued}</span>}
            {e.failed && <span class="tag bad">{t.failed}</span>}
            {e.failed && e.error_kind === "still_running" && <span class="tag" title={t.stillRunningHint}>{t.stillRunning}</span>}
            {e.incomplete && <span class="tag warn" title={t.incompleteHint}>{t.incomplete}</span>}
            {e.late && <span class="tag">{t.late}</span>}
            {e.incognito && <span class="tag">{t.incognito}</span>}
            <span class="grow" />
            {e.cost !== undefined && <span class="hint">{t.cost(e.cost)}</span>}
            {e.at && <time class="hint" dateTime={e.at}>{clock(e.at)}</time>}
            {!e.queued && <Menu label={t.menu(e.author)} actions={all} />}
          </header>
          {e.kind === "person" ? <p class="text plain" dir="auto">{e.text}</p> : <Markdown text={e.text} />}
          {spent && e.spent && <p class="hint" role="status">{t.spent(e.spent)}</p>}
          {e.images.map((src, i) => <img key={i} src={src} alt={t.image("")} />)}
          {e.files && <ul class="pictures" aria-label={t.files}>{e.files.map((f, i) => <li key={i}>{f.href ? <a class="file" href={f.href} download={f.name}><bdi>{f.name}</bdi></a> : <span class="file"><bdi>{f.name}</bdi></span>} <span class="hint">{f.bytes !== undefined && t.size(f.bytes)}</span></li>)}</ul>}
        </div>
      </article>
    </>
  );
});

/** Plain is a message that is far away: its words stand in the page for who searches or listens, without more. */
export function Plain({ entry: e }: { entry: Entry }) {
  return <article class="message" aria-label={e.author} data-id={e.id}><p class="text plain">{visible(e.text.slice(0, 20_000))}</p></article>;
}

export function clock(at: string): string {
  const d = new Date(at);
  const today = new Date().toDateString() === d.toDateString();
  return d.toLocaleString("en-GB", today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

