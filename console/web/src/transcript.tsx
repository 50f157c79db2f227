import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Entry, Live } from "./types";
import { type Store, useStore } from "./store";
import type { TalkState } from "./talk";
import { Elapsed, Markdown } from "./body";
import type { Action } from "./menu";
import { Message } from "./message";
import { Past, Place } from "./past";
import { Name, Avatar } from "./voice";
import { t } from "./strings";

interface Props {
  entries: Entry[];
  talk: Store<TalkState>;
  busy: boolean;
  actions: (e: Entry) => Action[];
  onStop?: (l: Live) => void;
  /** earlier reads more of the past, where there is more than entries. */
  earlier?: () => Promise<void>;
}

/** Transcript shows a conversation: what was said, who is at work, and what waits. */
export function Transcript({ entries, talk, busy, actions, onStop, earlier }: Props) {
  const [away, setAway] = useState(false);
  const place = useMemo(() => new Place(setAway), []);
  const act = useRef(actions);
  act.current = actions;
  const stable = useRef((e: Entry) => act.current(e)).current;
  useEffect(() => place.follow(), []);
  useLayoutEffect(() => place.settle());
  const mine = entries.findLast((e) => e.mine)?.id;
  const before = useRef(mine);
  useEffect(() => {
    if (mine && before.current && mine !== before.current && entries.slice(-3).some((e) => e.id === mine)) place.newest(); // what one has sent is in sight
    before.current = mine;
  }, [mine]);
  const waiting = entries.filter((e) => e.queued);
  return (
    <div class="stage">
      <div class="transcript" role="log" aria-label={t.transcript} tabIndex={0} ref={place.box} onScroll={place.scrolled}>
        <div ref={place.inner}>
          {earlier && <button type="button" class="quiet middle" onClick={() => void earlier()}>{t.earlier}</button>}
          <div class="past"><Past entries={entries} place={place} actions={stable} /></div>
          <Working talk={talk} busy={busy} onStop={onStop} />
          {waiting.map((e) => <Message key={e.id} entry={e} head={0} actions={stable} />)}
        </div>
      </div>
      {away && <button type="button" class="newest" onClick={place.newest}>↓ {t.newest}</button>}
    </div>
  );
}

/** Working shows who is at work. Of a reply that streams in it alone is drawn again, and the place settles itself by
 * the size that comes of it. */
function Working({ talk, busy, onStop }: { talk: Store<TalkState>; busy: boolean; onStop?: (l: Live) => void }) {
  const { live } = useStore(talk);
  if (live.length === 0) return busy ? <p class="pulse" role="status"><span class="dots" aria-hidden="true" />{t.thinking}</p> : null;
  const side = live.filter((l) => !l.queued).length > 1;
  return <div class={side ? "side" : ""}>{live.map((l) => <AtWork key={l.key} live={l} onStop={onStop} />)}</div>;
}

/** most is how much of a text is shown while it is written, in characters. */
const most = 20_000;

/** newest is the end of a long text. Its beginning moves seldom, since all that follows is drawn anew then. */
function newest(text: string): string {
  return text.length <= most ? text : text.slice(Math.ceil((text.length - most) / (most / 2)) * (most / 2));
}

/** AtWork is an author that has not ended: what it has said so far, what it does, what it plans. */
function AtWork({ live: l, onStop }: { live: Live; onStop?: (l: Live) => void }) {
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
          {(l.wake || l.stops) && onStop && <button type="button" class="quiet" aria-label={t.stopOne(l.author)} onClick={() => onStop(l)}>{t.stop}</button>}
        </header>
        {l.status && <p class="hint">{l.status}</p>}
        {l.plan.length > 0 && <ul class="plan" aria-label={t.plan}>{l.plan.map((p, i) => <li key={i}>{p}</li>)}</ul>}
        {l.tools.length > 0 && (
          <ul class="tools" aria-label={t.tools}>
            {l.tools.slice(-6).map((x) => <li key={x.title}><code>{x.title}</code> <span class="hint">{x.state.replaceAll("_", " ")}</span></li>)}
          </ul>
        )}
        {l.thought && <details><summary class="hint">{t.thinking}</summary><p class="text plain hint">{l.thought.slice(-4000)}</p></details>}
        {l.text ? <Markdown text={newest(l.text)} live /> : !l.queued && <span class="dots" aria-hidden="true" />}
      </div>
    </article>
  );
}
