import { useState } from "preact/hooks";
import type { Mentions } from "./types";
import { rooms, threads } from "./api";
import { Composer } from "./composer";
import { Fault } from "./fault";
import { lists, refresh } from "./lists";
import type { FileBlock } from "./files";
import { go, placeOf, useStore } from "./store";
import { Thread } from "./thread";
import { Avatar } from "./voice";
import { t } from "./strings";

/** NewView begins a conversation: with the lead, with one agent, or with several. */
export function NewView({ me, admin }: { me: string; admin: boolean }) {
  const { roster, sessions } = useStore(lists);
  const [picked, setPicked] = useState<string[]>([]);
  const [fault, setFault] = useState("");

  const pick = (name: string) => setPicked((all) => (all.includes(name) ? all.filter((n) => n !== name) : sessions ? [...all, name] : [name]));
  const send = async (text: string, files: FileBlock[]) => {
    setFault("");
    if (picked.length > 1) {
      const room = await rooms.create({ name: text.split("\n")[0].slice(0, 80) || t.untitled, agents: picked });
      await rooms.post(room.id, text);
      go(placeOf("room", room.id));
    } else {
      const th = await threads.create(picked.length ? { agent: picked[0] } : {});
      const talk = new Thread(th.thread_id, me, admin);
      await talk.send(picked.length && !text.startsWith("@") ? `@${picked[0]} ${text}` : text, {}, false, files);
      talk.end();
      go(placeOf("thread", th.thread_id));
    }
    void refresh();
  };
  const hears = (m: Mentions, text: string): string => {
    if (picked.length > 1) return m.to.length ? t.hears.session(t.everyone(m.to)) : t.hears.start(t.everyone(picked)) + (text.trim() ? ` ${t.hears.nobody}` : "");
    if (m.kind === "unknown") return t.hears.unknown(m.token ?? "", m.near ?? "");
    if (m.kind === "empty") return t.hears.empty(t.meant(m));
    if (m.kind === "addressed") return t.hears.addressed(t.meant(m));
    return picked.length ? t.hears.direct(picked[0]) : t.hears.lead;
  };
  return (
    <>
      <div class="welcome">
        <h1>{t.emptyTitle}</h1>
        <p class="hint">{t.emptyLead}</p>
        {roster.length > 0 && (
          <fieldset>
            <legend>{sessions ? t.pick : t.pickOne}</legend>
            <div class="cards">
              {roster.map((d) => (
                <label key={d.name} class={`card${picked.includes(d.name) ? " on" : ""}`}>
                  <input type={sessions ? "checkbox" : "radio"} name="agent" checked={picked.includes(d.name)} onChange={() => pick(d.name)} />
                  <Avatar name={d.name} />
                  <span><bdi class="name">{d.name}</bdi><span class="hint">{d.description || d.type}</span></span>
                </label>
              ))}
            </div>
          </fieldset>
        )}
      </div>
      <Fault words={fault} onClose={() => setFault("")} />
      <Composer draft="new" anywhere={picked.length > 1} files={picked.length < 2} busy={false} hears={hears} onSend={send} onStop={async () => []} onFault={setFault} />
    </>
  );
}
