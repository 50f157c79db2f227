import { useEffect, useMemo, useState } from "preact/hooks";
import type { Entry, Mentions } from "./types";
import { rooms } from "./api";
import { copy } from "./body";
import { Composer } from "./composer";
import { Dialog } from "./dialog";
import { Fault, Gone } from "./fault";
import { lists, looked, refresh } from "./lists";
import { Menu, type Action } from "./menu";
import { Session } from "./room";
import { useStore } from "./store";
import { words } from "./talk";
import { quoted, save } from "./threadview";
import { Transcript } from "./transcript";
import { Avatar } from "./voice";
import { t } from "./strings";

/** RoomView is a shared session: its members, its budget, its transcript. */
export function RoomView({ id, me, admin }: { id: string; me: string; admin: boolean }) {
  const talk = useMemo(() => new Session(id, me), [id, me]);
  const s = useStore(talk.store, "live");
  const { roster } = useStore(lists);
  const [given, setGiven] = useState({ text: "", turn: 0 });
  const [asking, setAsking] = useState<"" | "close" | "invite" | "rename">("");
  useEffect(() => {
    void talk.begin();
    return () => talk.end();
  }, [talk]);
  useEffect(() => (looked(id), () => looked(id)), [id, s.entries.length]);
  if (s.gone) return <Gone words={s.gone} />;
  const room = s.room;
  if (!room) return <Fault words={s.fault} onClose={talk.clearFault} />;

  const attempt = (p: Promise<unknown>) => void p.catch((err) => talk.store.set({ fault: words(err) }));
  const manages = admin || room.role === "moderator";
  const present = room.participants.filter((p) => !p.left_at);
  const agents = present.filter((p) => p.kind === "agent");
  const open = room.status === "open";
  const free = roster.filter((d) => !agents.some((a) => a.name === d.name));
  const change = (p: Promise<unknown>) => attempt(talk.change(p).then(refresh));

  const hears = (m: Mentions, text: string): string => (m.to.length ? t.hears.session(t.everyone(m.to)) : text.trim() ? t.hears.nobody : t.to(agents.map((a) => a.name)));
  const actions = (e: Entry): Action[] => [
    { label: t.copy, do: () => attempt(copy(e.text)) },
    { label: t.export, do: () => save(e.author, [e]) },
    ...(open && e.kind !== "note" ? [{ label: t.quote, do: () => setGiven((g) => ({ text: quoted(e), turn: g.turn + 1 })) }] : []),
  ];
  const whole = (): Action[] => {
    const all: Action[] = [{ label: t.copyLink, do: () => attempt(copy(`${location.origin}/sessions/${id}`)) }, { label: t.export, do: () => location.assign(`/api/rooms/${encodeURIComponent(id)}/export?format=md`) }];
    if (manages && open) {
      all.push({ label: t.rename, do: () => setAsking("rename") });
      all.push({ label: t.extend, do: () => change(rooms.patch(id, { max_messages: Math.min(room.max_messages + 20, 500) })) });
      for (const d of free) all.push({ label: `${t.invite}: ${d.name}`, do: () => change(rooms.invite(id, "agent", d.name)) });
      all.push({ label: t.invitePerson, do: () => setAsking("invite") });
      for (const p of present) if (p.kind === "user" ? p.name !== me : agents.length > 1) all.push({ label: t.remove(p.name), do: () => change(rooms.remove(id, p.kind, p.name)) });
      all.push({ label: t.closeSession, do: () => setAsking("close") });
    }
    if (manages && !open) all.push({ label: t.reopen, do: () => change(rooms.patch(id, { status: "open", max_messages: Math.min(Math.max(room.max_messages, room.message_count + 20), 500), ttl_hours: 24 })) });
    return all;
  };
  return (
    <>
      <header class="top">
        <div class="titles">
          <h1 dir="auto">{room.name}</h1>
          <p class="hint">
            {t.messagesOf(room.message_count, room.max_messages)} · {room.cost_known ? t.cost(room.cost_usd) : t.unknownCost}
            {!open && ` · ${t.closed}`}
            {room.topic && <> · <bdi>{room.topic}</bdi></>}
          </p>
        </div>
        <span class="grow" />
        <ul class="members" aria-label={t.members}>
          {present.map((p) => <li key={p.kind + p.name} title={`${p.name}, ${p.role}`}><Avatar name={p.name} small /><span class="sr">{p.name}, {p.role}</span></li>)}
        </ul>
        <Menu label={t.more} actions={whole} />
      </header>
      {open && room.budget_used >= 0.8 && <p class="notice" role="status">{t.budget(room.budget_used, room.message_count, room.max_messages)}</p>}
      {room.summary && <details class="notice"><summary>{t.summary}</summary><p class="text plain" dir="auto">{room.summary}</p></details>}
      <Transcript entries={s.entries} talk={talk.store} busy={false} actions={actions} onStop={(l) => attempt(talk.stopOne(l.wake!))} earlier={s.hasEarlier ? () => talk.earlier() : undefined} />
      <Fault words={s.fault} onClose={talk.clearFault} />
      {!open && <p class="notice middle">{t.closedComposer(room.stop_reason ?? "")}</p>}
      {open && room.role === "observer" && <p class="notice middle">{t.observer}</p>}
      {open && room.role !== "observer" && (
        <Composer draft={id} anywhere busy={s.busy} hears={hears} onSend={(text) => talk.send(text)} onStop={() => talk.stop()} given={given} onFault={(f) => talk.store.set({ fault: f })} />
      )}
      {asking === "close" && <Dialog title={t.closeAsk} ok={t.closeSession} cancel={t.keep} danger onOk={() => (setAsking(""), change(rooms.close(id)))} onClose={() => setAsking("")} />}
      {asking === "rename" && <Dialog title={t.rename} ok={t.ok} cancel={t.cancel} field={{ label: t.title, value: room.name }} onOk={(name) => (setAsking(""), change(rooms.patch(id, { name })))} onClose={() => setAsking("")} />}
      {asking === "invite" && <Dialog title={t.invitePerson} ok={t.inviteGo} cancel={t.cancel} field={{ label: t.personName, value: "", hint: t.personHint }} onOk={(name) => (setAsking(""), name.trim() && change(rooms.invite(id, "user", name.trim())))} onClose={() => setAsking("")} />}
    </>
  );
}
