import { useState } from "preact/hooks";
import { lists } from "./lists";
import { Modal } from "./dialog";
import { go, placeOf } from "./store";
import { t } from "./strings";

export interface Command { label: string; do: () => void }

/** Palette finds a command or a conversation by a few letters. */
export function Palette({ commands, onClose }: { commands: Command[]; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const all = [...commands, ...lists.get().rows.map((r) => ({ label: r.title, do: () => go(placeOf(r.kind, r.id)) }))];
  const wanted = query.trim().toLowerCase();
  const found = all.filter((c) => c.label.toLowerCase().includes(wanted)).slice(0, 12);
  const take = (c: Command | undefined) => {
    onClose();
    c?.do();
  };
  const key = (e: KeyboardEvent) => {
    if (e.isComposing || e.keyCode === 229) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      setAt((at + (e.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(found.length, 1));
    } else if (e.key === "Enter") {
      e.preventDefault();
      take(found[at]);
    }
  };
  return (
    <Modal label={t.palette} onClose={onClose}>
      <input autoFocus role="combobox" aria-expanded="true" aria-controls="commands" aria-activedescendant={found.length ? `command-${at}` : undefined} aria-label={t.paletteHint} placeholder={t.paletteHint}
        value={query} onInput={(e) => (setQuery(e.currentTarget.value), setAt(0))} onKeyDown={key} />
      <ul role="listbox" id="commands" aria-label={t.palette} class="commands">
        {found.map((c, i) => <li key={i} id={`command-${i}`} role="option" aria-selected={i === at} onClick={() => take(c)}><bdi>{c.label}</bdi></li>)}
      </ul>
    </Modal>
  );
}

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Modal label={t.shortcuts} onClose={onClose}>
      <h2>{t.shortcuts}</h2>
      <dl class="keys">{t.keys.map(([k, what]) => <div key={k}><dt><kbd>{k}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <div class="choices"><button type="button" autoFocus onClick={onClose}>{t.close}</button></div>
    </Modal>
  );
}
