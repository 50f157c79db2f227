import { memo } from "./memo";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry, Live } from "./types";
import { Elapsed, Markdown } from "./body";
import { Menu, type Action } from "./menu";
import { Avatar, Name } from "./voice";
import { t } from "./strings";

/** slice is how many messages more are in the page at each step back. */
const slice = 120;

interface Props {
  entries: Entry[];
  live: Live[];
  busy: boolean;
  actions: (e: Entry) => Action[];
  onStop?: (wake: string) => void;
  /** earlier reads more of the past, where there is more than entries. */
  earlier?: () => Promise<void>;
}

/** Transcript shows a conversation. Of a long one only the newest part is in the page; more comes as one scrolls up. */
export function Transcript({ entries, live, busy, actions, onStop, earlier }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(slice);
  const [away, setAway] = useState(false);
  const kept = useRef<number | null>(null);
  const atEnd = useRef(true);
  const from = Math.max(0, entries.length - shown);

  useLayoutEffect(() => {
    const el = box.current!;
    if (kept.current !== null) {
      el.scrollTop = el.scrollHeight - kept.current; // the same lines stay where they are
      kept.current = null;
    } else if (atEnd.current) {
      el.scrollTop = el.scrollHeight;
    }
  });

  useEffect(() => {
    const sized = new ResizeObserver(() => atEnd.current && newest());
    sized.observe(box.current!);
    return () => sized.disconnect();
  }, []);

  const scrolled = () => {
    const el = box.current!;
    atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < 60;
    if (away === atEnd.current) setAway(!atEnd.current);
  };
  const more = async () => {
    const el = box.current!;
    if (from === 0) await earlier?.();
    kept.current = el.scrollHeight - el.scrollTop;
    setShown(shown + slice);
  };
  const newest = () => {
    atEnd.current = true;
    box.current!.scrollTop = box.current!.scrollHeight;
  };

  const waiting = entries.filter((e) => e.queued);
  const stands = entries.slice(from).filter((e) => !e.queued);
  const side = live.filter((l) => !l.queued).length > 1;
  return (
    <div class="stage">
      <div class="transcript" role="log" aria-label={t.transcript} tabIndex={0} ref={box} onScroll={scrolled}>
        {(from > 0 || earlier) && <button type="button" class="quiet middle" onClick={more}>{t.earlier}</button>}
        {stands.map((e, i) => (
          <Message key={e.id} entry={e} head={rounds(stands[i - 1], e)} actions={actions} />
        ))}
        {live.length > 0 && (
          <div class={side ? "side" : ""}>
            {live.map((l) => <AtWork key={l.key} live={l} onStop={onStop} />)}
          </div>
        )}
        {busy && live.length === 0 && <p class="pulse" role="status"><span class="dots" aria-hidden="true" />{t.thinking}</p>}
        {waiting.map((e) => <Message key={e.id} entry={e} head={0} actions={actions} />)}
      </div>
      {away && <button type="button" class="newest" onClick={newest}>↓ {t.newest}</button>}
    </div>
  );
}

/** rounds is the round that begins with e, 0 where none does. */
function rounds(before: Entry | undefined, e: Entry): number {
  if (!e.round || e.kind !== "agent") return 0;
  const same = before?.exchange === e.exchange && before?.round === e.round && before?.kind === "agent";
  return same || (e.round === 1 && before?.kind === "person") ? 0 : e.round;
}

const Message = memo(function Message({ entry: e, head, actions }: { entry: Entry; head: number; actions: (e: Entry) => Action[] }) {
  const classes = ["message", e.kind, e.mine ? "mine" : "", e.failed ? "failed" : "", e.queued ? "queued" : ""].join(" ");
  return (
    <>
      {head > 0 && <p class="round"><span>{t.round(head)}</span></p>}
      <article class={classes} aria-label={e.author}>
        {e.kind !== "note" && <Avatar name={e.author} />}
        <div class="bubble">
          <header>
            <Name name={e.author} plain={e.kind === "note"} />
            {e.mine && <span class="hint">({t.you})</span>}
            {e.kind === "note" && <span class="tag">{t.note}</span>}
            {e.queued && <span class="tag" title={t.queuedHint}>{t.queued}</span>}
            {e.failed && <span class="tag bad">{t.failed}</span>}
            {e.late && <span class="tag">{t.late}</span>}
            {e.incognito && <span class="tag">{t.incognito}</span>}
            <span class="grow" />
            {e.cost !== undefined && <span class="hint">{t.cost(e.cost)}</span>}
            {e.took !== undefined && <span class="hint">{t.took(e.took)}</span>}
            {e.at && <time class="hint" dateTime={e.at}>{clock(e.at)}</time>}
            {!e.queued && <Menu label={t.menu(e.author)} actions={() => actions(e)} />}
          </header>
          {e.kind === "person" ? <p class="text plain" dir="auto">{e.text}</p> : <Markdown text={e.text} />}
          {e.images.map((src, i) => <img key={i} src={src} alt={t.image("")} />)}
        </div>
      </article>
    </>
  );
});

export function clock(at: string): string {
  const d = new Date(at);
  const today = new Date().toDateString() === d.toDateString();
  return d.toLocaleString("en-GB", today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

/** AtWork is an author that has not ended: what it has said so far, what it does, what it plans. */
function AtWork({ live: l, onStop }: { live: Live; onStop?: (wake: string) => void }) {
  return (
    <article class="message agent live" aria-label={l.author} aria-busy="true">
      <Avatar name={l.author} />
      <div class="bubble">
        <header>
          <Name name={l.author} />
          <span class="tag">{l.queued ? t.queued : t.working}</span>
          {l.round !== undefined && l.round > 1 && <span class="hint">{t.round(l.round)}</span>}
          <span class="grow" />
          {!l.queued && <Elapsed since={l.since} />}
          {l.wake && onStop && <button type="button" class="quiet" aria-label={t.stopOne(l.author)} onClick={() => onStop(l.wake!)}>{t.stop}</button>}
        </header>
        {l.status && <p class="hint">{l.status}</p>}
        {l.plan.length > 0 && <ul class="plan" aria-label={t.plan}>{l.plan.map((p, i) => <li key={i}>{p}</li>)}</ul>}
        {l.tools.length > 0 && (
          <ul class="tools" aria-label={t.tools}>
            {l.tools.slice(-6).map((x) => <li key={x.title}><code>{x.title}</code> <span class="hint">{x.state.replaceAll("_", " ")}</span></li>)}
          </ul>
        )}
        {l.thought && <details><summary class="hint">{t.thinking}</summary><p class="text plain hint">{l.thought.slice(-4000)}</p></details>}
        {l.text ? <Markdown text={l.text.slice(-20_000)} live /> : !l.queued && <span class="dots" aria-hidden="true" />}
      </div>
    </article>
  );
}
