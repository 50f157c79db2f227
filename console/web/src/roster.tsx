import { useEffect, useState } from "preact/hooks";
import { delegates } from "./api";
import { DelegateForm } from "./delegateform";
import { Dialog } from "./dialog";
import { Fault } from "./fault";
import { Menu } from "./menu";
import { lists, readRoster } from "./lists";
import { useStore } from "./store";
import { pause, words } from "./talk";
import { Avatar, Name } from "./voice";
import { t } from "./strings";

interface Health { ok?: boolean; words: string }

/** every is how long after a look at all of the roster the next one begins, in ms. */
const every = 60_000;

/** watch asks one after the other how it is, again and again while somebody looks. */
async function watch(names: string[], probe: (name: string) => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const name of document.hidden ? [] : names) {
      if (signal.aborted) return;
      await probe(name);
    }
    await pause(every, signal);
  }
}

/** RosterView lists who can be addressed, and asks them how they are. */
export function RosterView() {
  const { roster } = useStore(lists);
  const [health, setHealth] = useState<Record<string, Health>>({});
  const [asked, setAsked] = useState("");
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
  const say = (name: string, h: Health) => setHealth((all) => ({ ...all, [name]: h }));
  const probe = async (name: string) => {
    try {
      const h = await delegates.probe(name);
      say(name, { ok: h.ok, words: h.ok ? t.healthy(h.latency_ms ?? 0) : t.unwell(h.detail ?? "") });
    } catch (err) {
      say(name, { ok: false, words: t.unwell(words(err)) });
    }
  };
  const ask = async (name: string) => {
    setAsked(name); // only who has asked is told aloud
    say(name, { words: t.probing });
    await probe(name);
  };
  useEffect(() => void again(), []);
  const names = roster.map((d) => d.name).join("\n");
  useEffect(() => {
    const stop = new AbortController();
    void watch(names.split("\n").filter(Boolean), probe, stop.signal);
    return () => stop.abort();
  }, [names]);
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
              <span class="hint" role={asked === d.name ? "status" : undefined}>{health[d.name]?.ok !== undefined && <span class={`lamp ${health[d.name].ok ? "on" : "off"}`} aria-hidden="true" />}{health[d.name]?.words}</span>
            </div>
            <button type="button" aria-label={`${t.probe} ${d.name}`} onClick={() => void ask(d.name)}>{t.probe}</button>
            <Menu label={t.menuOf(d.name)} actions={() => [{ label: t.editIt, do: () => setEditing(d.name) }, { label: t.removeIt, do: () => setRemoving(d.name) }]} />
          </li>
        ))}
      </ul>
      {editing !== null && <DelegateForm name={editing} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void again())} />}
      {removing && <Dialog title={t.removeAsk(removing)} ok={t.removeIt} cancel={t.keep} danger onOk={() => void remove(removing)} onClose={() => setRemoving("")} />}
    </div>
  );
}
