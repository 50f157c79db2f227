import { useEffect, useState } from "preact/hooks";
import { delegates } from "./api";
import { DelegateForm } from "./delegateform";
import { Dialog } from "./dialog";
import { Fault } from "./fault";
import { Menu } from "./menu";
import { lists, readRoster } from "./lists";
import { useStore } from "./store";
import { words } from "./talk";
import { Avatar, Name } from "./voice";
import { t } from "./strings";

/** RosterView lists who can be addressed, and asks them how they are. */
export function RosterView() {
  const { roster } = useStore(lists);
  const [health, setHealth] = useState<Record<string, string>>({});
  const [fault, setFault] = useState("");
  const [editing, setEditing] = useState<string | null>(null);
  const [removing, setRemoving] = useState("");
  const again = () => readRoster().catch((err) => setFault(words(err)));
  const remove = async (name: string) => {
    setRemoving("");
    try {
      await delegates.remove(name, (await delegates.get(name)).version);
      await again();
    } catch (err) {
      setFault(words(err));
    }
  };
  const say = (name: string, text: string) => setHealth((h) => ({ ...h, [name]: text }));
  const probe = async (name: string) => {
    say(name, t.probing);
    try {
      const h = await delegates.probe(name);
      say(name, h.ok ? t.healthy(h.latency_ms ?? 0) : t.unwell(h.detail ?? ""));
    } catch (err) {
      say(name, t.unwell(words(err)));
    }
  };
  useEffect(() => void again(), []);
  return (
    <div class="page">
      <div class="head"><h1>{t.roster}</h1><span class="grow" /><button type="button" class="primary" onClick={() => setEditing("")}>{t.addDelegate}</button></div>
      <Fault words={fault} onClose={() => setFault("")} />
      {roster.length === 0 && <p class="hint">{t.rosterEmpty}</p>}
      <ul class="roster">
        {roster.map((d) => (
          <li key={d.name}>
            <Avatar name={d.name} />
            <div class="what">
              <span><Name name={d.name} /> <span class="tag">{d.type}</span></span>
              <span class="hint">{d.description}</span>
              <span class="hint" role="status">{health[d.name]}</span>
            </div>
            <button type="button" aria-label={`${t.probe} ${d.name}`} onClick={() => void probe(d.name)}>{t.probe}</button>
            <Menu label={t.menuOf(d.name)} actions={() => [{ label: t.editIt, do: () => setEditing(d.name) }, { label: t.removeIt, do: () => setRemoving(d.name) }]} />
          </li>
        ))}
      </ul>
      {editing !== null && <DelegateForm name={editing} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void again())} />}
      {removing && <Dialog title={t.removeAsk(removing)} ok={t.removeIt} cancel={t.keep} danger onOk={() => void remove(removing)} onClose={() => setRemoving("")} />}
    </div>
  );
}
