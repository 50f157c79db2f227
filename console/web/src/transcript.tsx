import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Entry, Live } from "./types";
import { Elapsed, Markdown } from "./body";
import type { Action } from "./menu";
import { Message } from "./message";
import { Past, Place } from "./past";
import { Name, Avatar } from "./voice";
import { t } from "./strings";

interface Props {
  entries: Entry[];
  live: Live[];
  busy: boolean;
  actions: (e: Entry) => Action[];
  onStop?: (wake: string) => void;
  /** earlier reads more of the past, where there is more than entries. */
  earlier?: () => Promise<void>;
}

/** Transcript shows a conversation: what was said, who is at work, and what waits. */
export function Transcript({ entries, live, busy, actions, onStop, earlier }: Props) {
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
  const side = live.filter((l) => !l.queued).length > 1;
  return (
    <div class="stage">
      <div class="transcript" role="log" aria-label={t.transcript} tabIndex={0} ref={place.box} onScroll={place.scrolled}>
        <div ref={place.inner}>
          {earlier && <button type="button" class="quiet middle" onClick={() => void earlier()}>{t.earlier}</button>}
          <Past entries={entries} place={place} actions={stable} />
          {live.length > 0 && (
            <div class={side ? "side" : ""}>
              {live.map((l) => <AtWork key={l.key} live={l} onStop={onStop} />)}
            </div>
          )}
          {busy && live.length === 0 && <p class="pulse" role="status"><span class="dots" aria-hidden="true" />{t.thinking}</p>}
          {waiting.map((e) => <Message key={e.id} entry={e} head={0} actions={stable} />)}
        </div>
      </div>
      {away && <button type="button" class="newest" onClick={place.newest}>↓ {t.newest}</button>}
    </div>
  );
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
