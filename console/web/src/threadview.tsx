import { useEffect, useMemo, useState } from "preact/hooks";
import type { Entry, Mentions } from "./types";
import { rooms, threads } from "./api";
import { copy } from "./body";
import { Composer } from "./composer";
import { CostsOf } from "./costs";
import { agentOf, lists, looked, refresh, titleOf } from "./lists";
import { Menu, type Action } from "./menu";
import { Dialog } from "./dialog";
import type { FileBlock } from "./files";
import { go, placeOf, useStore } from "./store";
import { words } from "./talk";
import { Leave, parked, Pause } from "./questions";
import { Thread } from "./thread";
import { Transcript } from "./transcript";
import { Fault, Gone } from "./fault";
import { t } from "./strings";

/** keep is how many messages a compaction leaves as they are. */
const keep = 20;

/** ThreadView is a conversation with the lead or one agent, and whoever is addressed in it. */
export function ThreadView({ id, me, admin }: { id: string; me: string; admin: boolean }) {
  const talk = useMemo(() => new Thread(id, me, admin), [id, me, admin]);
  const s = useStore(talk.store, "live");
  const { sessions, rows } = useStore(lists);
  const changed = rows.find((r) => r.id === id)?.at;
  const [given, setGiven] = useState({ text: "", turn: 0 });
  const [editing, setEditing] = useState("");
  const [costs, setCosts] = useState(false);
  const [asking, setAsking] = useState<{ kind: "rewind" | "delete" | "rename" | "compact"; id: string; words: string } | null>(null);
  useEffect(() => {
    void talk.begin();
    return () => talk.end();
  }, [talk]);
  useEffect(() => void (s.loaded && !s.busy && talk.load().catch(() => {})), [changed]); // such as a late answer
  useEffect(() => void (s.loaded && refresh().catch(() => {})), [s.busy]); // the rail shows who works
  useEffect(() => (looked(id), () => looked(id)), [id, s.entries.length, s.busy]);

  const fail = (err: unknown) => talk.store.set({ fault: words(err) });
  const attempt = (p: Promise<unknown>) => void p.catch(fail);
  if (s.gone) return <Gone words={s.gone} />;
  const agent = agentOf(s.thread);
  const after = (m: string) => s.messages.length - s.messages.findIndex((x) => x.id === m);

  const send = async (text: string, files: FileBlock[]) => {
    if (editing) {
      setEditing("");
      return talk.resend(editing, text);
    }
    const to = agent ? addressed(text) : [];
    if (agent && sessions && to.length > 0 && !(to.length === 1 && to[0] === agent)) {
      const room = await rooms.create({ name: titleOf({ ...s.thread!, values: { messages: s.messages } }).slice(0, 200), agents: [...new Set([agent, ...to])] });
      await rooms.post(room.id, text);
      void refresh();
      return go(placeOf("room", room.id));
    }
    await talk.send(agent && to.length === 0 ? `@${agent} ${text}` : text, {}, false, files);
    void refresh();
  };
  const hears = (m: Mentions, text: string): string => {
    if (m.kind === "unknown") return t.hears.unknown(m.token ?? "", m.near ?? "");
    if (m.kind === "empty") return t.hears.empty(t.meant(m));
    if (m.kind === "addressed") {
      if (agent && sessions && m.to.some((n) => n !== agent)) return t.hears.start(t.everyone([...new Set([agent, ...m.to])]));
      return t.hears.addressed(t.meant(m));
    }
    return text.trim() === "" && !agent ? "" : agent ? t.hears.direct(agent) : t.hears.lead;
  };
  const put = (text: string) => setGiven((g) => ({ text, turn: g.turn + 1 }));
  const edit = (e: Entry) => {
    setEditing(e.id);
    put(e.text);
  };
  const actions = (e: Entry): Action[] => {
    const all: Action[] = [{ label: t.copy, do: () => attempt(copy(e.text)) }, { label: t.quote, do: () => put(quoted(e)) }];
    if (!e.incognito) all.push({ label: t.export, do: () => save(e.author, [e]) });
    if (e.kind === "note" || e.kind === "tool" || e.past) return all;
    if (e.kind === "person" && !s.busy) all.push({ label: t.edit, do: () => edit(e) });
    if (e.kind === "agent" && !s.busy) all.push({ label: t.retry, do: () => attempt(talk.retry(e.id)) });
    if (!s.busy && !talk.isAside(e.id)) {
      all.push({ label: t.fork, do: () => attempt(talk.fork(e.id).then((to) => (void refresh(), go(placeOf("thread", to))))) });
      all.push({ label: t.rewind, do: () => setAsking({ kind: "rewind", id: e.id, words: t.rewindAsk(after(e.id)) }) });
    }
    return all;
  };
  const title = s.thread ? titleOf({ ...s.thread, values: { messages: s.messages } }) : "";
  const older = s.entries.filter((e) => !e.past).slice(0, -keep);
  const whole = (): Action[] => [
    { label: t.rename, do: () => setAsking({ kind: "rename", id, words: "" }) },
    { label: t.export, do: () => save(title, s.entries) },
    { label: t.costs, do: () => setCosts(true) },
    ...(!s.busy && older.length > 0 ? [{ label: t.compact, do: () => setAsking({ kind: "compact", id, words: t.compactAsk(older.length, keep, Math.ceil(older.reduce((n, e) => n + e.text.length, 0) / 4)) }) }] : []),
    ...(!s.busy && s.messages.some((m) => m.additional_kwargs?.metadata?.summary) ? [{ label: t.uncompact, do: () => attempt(threads.uncompact(id).then(() => talk.load())) }] : []),
    { label: t.deleteThread, do: () => setAsking({ kind: "delete", id, words: t.deleteAsk }) },
  ];
  const confirmed = (value: string) => {
    const a = asking!;
    setAsking(null);
    if (a.kind === "rewind") attempt(talk.rewind(a.id));
    else if (a.kind === "compact") attempt(threads.compact(id, keep, value).then(() => talk.load()));
    else if (a.kind === "rename") attempt(talk.rename(value).then(refresh));
    else attempt(talk.remove().then(() => (void refresh(), go("#/new"))));
  };
  const last = () => s.entries.filter((e) => e.mine && !e.queued).pop();
  return (
    <>
      <header class="top">
        <h1 dir="auto">{title}</h1>
        <span class="grow" />
        <Menu label={t.more} actions={whole} />
      </header>
      <Transcript entries={s.entries} talk={talk.store} busy={s.busy} actions={actions} onStop={(l) => attempt(talk.stopOne(l.author))} earlier={s.summed ? () => talk.earlier().catch(fail) : undefined} />
      <div class="questions" aria-live="assertive">
        {s.questions.map((q) => <Leave key={q.id} question={q} mayAnswer={admin} onAnswer={(c) => attempt(talk.give(q.id, c))} />)}
        {!s.busy && parked(s.entries).map((e) => <Pause key={e.id} entry={e} onAnswer={(text) => attempt(talk.send(`@${e.author} ${text}`, {}, true))} />)}
      </div>
      <Fault words={s.fault} onClose={talk.clearFault} />
      <Composer draft={id} anywhere={false} files busy={s.busy} hears={hears} onSend={send} onStop={() => talk.stop()} given={given} onFault={(f) => talk.store.set({ fault: f })} onUp={() => { const e = last(); if (e && !s.busy) edit(e); }}>
        {editing && (
          <p class="notice">
            {t.editing(after(editing) - 1)} <button type="button" class="quiet" onClick={() => (setEditing(""), put(""))}>{t.cancelEdit}</button>
          </p>
        )}
      </Composer>
      {costs && <CostsOf thread={id} onClose={() => setCosts(false)} />}
      {asking && (
        <Dialog title={asking.kind === "rename" ? t.rename : asking.words} ok={{ rewind: t.rewindGo, delete: t.deleteThread, rename: t.ok, compact: t.compact }[asking.kind]} cancel={t.keep} danger={asking.kind !== "rename"}
          field={{ rename: { label: t.title, value: title }, compact: { label: t.compactField, value: "", asking: asking.words }, rewind: undefined, delete: undefined }[asking.kind]} onOk={confirmed} onClose={() => setAsking(null)} />
      )}
    </>
  );
}

/** addressed is the leading names of a text that are on the roster. */
function addressed(text: string): string[] {
  const names = lists.get().roster.map((d) => d.name);
  const to: string[] = [];
  for (const token of text.trim().split(/\s+/)) {
    const name = names.find((n) => `@${n}`.toLowerCase() === token.toLowerCase());
    if (!name) break;
    to.push(name);
  }
  return to;
}

export function quoted(e: Entry): string {
  return `${e.text.split("\n").map((l) => `> ${l}`).join("\n")}\n\n`;
}

/** save gives the person the transcript as a Markdown file, without what was said off the record. */
export function save(title: string, entries: Entry[]): void {
  const text = `# ${title}\n\n${entries.filter((e) => !e.incognito).map((e) => `**${e.author}**\n\n${e.text}\n`).join("\n")}`;
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  a.download = `${title.replace(/[^\p{L}\p{N} _.-]+/gu, "").slice(0, 60) || "conversation"}.md`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}
