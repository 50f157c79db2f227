import { useEffect, useState } from "preact/hooks";
import type { Found, Session } from "./types";
import { search } from "./api";
import { lists, matching, star, type Row } from "./lists";
import { placeOf, useStore } from "./store";
import { visible } from "./markdown";
import { clock } from "./message";
import { Avatar } from "./voice";
import { t } from "./strings";

interface Props { here: string; session: Session; onSignOut: () => void; onTheme: () => void; onKeys: () => void }

/** useSaid is where a text was said, as the server finds it once the typing rests. */
function useSaid(text: string) {
  const [said, setSaid] = useState({ text: "", found: [] as Found[], more: false });
  useEffect(() => {
    if (text.length < 2) return;
    const stop = new AbortController();
    const timer = setTimeout(() => void search(text, stop.signal).then(
      (r) => setSaid({ text, ...r }),
      () => stop.signal.aborted || setSaid({ text, found: [], more: false }), // the names are searched all the same
    ), 200);
    return () => (clearTimeout(timer), stop.abort());
  }, [text]);
  return said;
}

/** Rail lists the conversations. */
export function Rail({ here, session, onSignOut, onTheme, onKeys }: Props) {
  const { rows, loaded } = useStore(lists);
  const [query, setQuery] = useState("");
  const wanted = query.trim();
  const said = useSaid(wanted);
  const searching = wanted.length > 1 && said.text !== wanted;
  const found = wanted ? matching(rows, wanted, said.text === wanted ? said.found : []) : rows;
  const groups: [string, Row[]][] = [[t.starred, found.filter((r) => r.starred)], [t.recent, found.filter((r) => !r.starred)]];
  return (
    <nav class="rail" aria-label={t.conversations}>
      <div class="brand"><span class="mark" aria-hidden="true" />{t.app}</div>
      <button type="button" class="primary wide" onClick={() => (location.hash = "#/new")}>{t.newChat}</button>
      <input type="search" aria-label={t.search} placeholder={t.search} value={query} onInput={(e) => setQuery(e.currentTarget.value)} />
      <div class="rows">
        {groups.map(([title, list]) => list.length > 0 && (
          <section key={title}>
            {groups[0][1].length > 0 && <h2>{title}</h2>}
            <ul>{list.map((r) => <RowOf key={r.id} row={r} here={here} />)}</ul>
          </section>
        ))}
        {wanted !== "" && said.text === wanted && said.more && <p class="hint pad">{t.moreFound}</p>}
        {loaded && found.length === 0 && <p class="hint pad" role="status">{searching ? t.searching : wanted ? t.noMatch : t.noConversations}</p>}
      </div>
      <div class="foot">
        {session.admin && <a href="#/roster" aria-current={here === "#/roster" ? "page" : undefined}>{t.roster}</a>}
        {session.admin && <a href="#/settings" aria-current={here === "#/settings" ? "page" : undefined}>{t.settings}</a>}
        <span class="grow" />
        <button type="button" class="icon" aria-label={t.theme} title={t.theme} onClick={onTheme}>◐</button>
        <button type="button" class="icon" aria-label={t.shortcuts} title={t.shortcuts} onClick={onKeys}>?</button>
      </div>
      {session.needed && <div class="foot who"><bdi class="hint">{session.name}</bdi><span class="grow" /><button type="button" class="quiet" onClick={onSignOut}>{t.signOut}</button></div>}
    </nav>
  );
}

function RowOf({ row: r, here }: { row: Row; here: string }) {
  const place = placeOf(r.kind, r.id);
  const count = r.mentions || r.unread;
  return (
    <li class={`row${here === place ? " here" : ""}${r.closed ? " closed" : ""}`}>
      <a href={place} aria-current={here === place ? "page" : undefined}>
        <span class="faces" aria-hidden="true">{(r.agents.length ? r.agents : [t.assistant]).slice(0, 2).map((a) => <Avatar key={a} name={a} small />)}</span>
        <span class="what"><bdi>{r.title}</bdi>{r.found && <span class="said" dir="auto">{visible(r.found)}</span>}<span class="hint">{r.busy ? t.working : clock(r.at)}{r.closed ? ` · ${t.closed}` : ""}</span></span>
        {count > 0 && <span class={`badge${r.mentions ? " mention" : ""}`} aria-label={r.mentions ? t.mentioned(r.mentions) : t.unread(r.unread)}>{r.mentions ? "@" : ""}{count}</span>}
        {r.fresh && here !== place && <span class="badge dot" role="img" aria-label={t.fresh} />}
      </a>
      <button type="button" class={`icon star${r.starred ? " on" : ""}`} aria-label={r.starred ? t.unstar(r.title) : t.star(r.title)} onClick={() => star(r.id)}>{r.starred ? "★" : "☆"}</button>
    </li>
  );
}
