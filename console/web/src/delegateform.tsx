import { useEffect, useState } from "preact/hooks";
import type { DelegateEntry, DelegateType, Field } from "./types";
import { delegates, Fault as Refused } from "./api";
import { Modal } from "./dialog";
import { Fault } from "./fault";
import { words } from "./talk";
import { t } from "./strings";

const plain = ["text", "choice", "whole number", "number", "seconds", "true or false", "environment variable"];

/** DelegateForm adds an entry to the roster, or changes one, by the schema of its type. */
export function DelegateForm({ name, onDone, onClose }: { name: string; onDone: () => void; onClose: () => void }) {
  const [types, setTypes] = useState<DelegateType[]>([]);
  const [entry, setEntry] = useState<DelegateEntry>({ name: "", type: "a2a", values: {}, hidden: [], version: "" });
  const [values, setValues] = useState<Record<string, string>>({});
  const [fault, setFault] = useState("");
  const load = async () => {
    const all = await delegates.types();
    setTypes(all.types);
    if (!name) return setEntry((e) => ({ ...e, version: all.version }));
    const e = await delegates.get(name);
    setEntry(e);
    setValues((mine) => ({ ...e.values, ...mine }));
  };
  useEffect(() => void load().catch((err) => setFault(words(err))), [name]);

  const fields = (types.find((x) => x.type === entry.type)?.fields ?? []).filter((f) => plain.includes(f.kind ?? "") || (!name && f.kind === "list of texts"));
  const save = async () => {
    setFault("");
    const changed = Object.fromEntries(fields.filter((f) => (values[f.key] ?? "") !== (entry.values[f.key] ?? "")).map((f) => [f.key, typed(f, values[f.key] ?? "")]));
    try {
      if (!name) await delegates.add(entry.version, entry.name, entry.type, changed);
      else if (Object.keys(changed).length) await delegates.change(name, entry.version, changed);
      onDone();
    } catch (err) {
      setFault(words(err));
      if (err instanceof Refused && err.code === "changed") await load().catch(() => {}); // saving again is over what stands there now
    }
  };
  const put = (key: string, value: string) => setValues((v) => ({ ...v, [key]: value }));
  const first = fields.filter((f) => f.required || f.key === "description" || f.kind === "environment variable");
  const rest = fields.filter((f) => !first.includes(f));
  const title = name ? t.editDelegate(name) : t.addDelegate;
  return (
    <Modal label={title} onClose={onClose}>
      <form aria-label={t.delegate} onSubmit={(e) => (e.preventDefault(), void save())}>
        <h2>{title}</h2>
        {!name && <label>{t.name}<input required value={entry.name} onInput={(e) => setEntry({ ...entry, name: e.currentTarget.value })} /></label>}
        {!name && (
          <label>{t.type}
            <select value={entry.type} onChange={(e) => (setEntry({ ...entry, type: e.currentTarget.value }), setValues({}))}>{types.map((x) => <option key={x.type}>{x.type}</option>)}</select>
          </label>
        )}
        {first.map((f) => <Value key={f.key} field={f} value={values[f.key] ?? ""} onInput={put} />)}
        <details><summary>{t.moreFields}</summary>{rest.map((f) => <Value key={f.key} field={f} value={values[f.key] ?? ""} onInput={put} />)}</details>
        <p class="hint">{t.secretsHint}{entry.hidden.length > 0 && ` ${t.hiddenFields(entry.hidden)}`}</p>
        <Fault words={fault} onClose={() => setFault("")} />
        <div class="choices"><button type="button" onClick={onClose}>{t.cancel}</button><button type="submit" class="primary">{t.save}</button></div>
      </form>
    </Modal>
  );
}

function typed(f: Field, value: string): unknown {
  if (f.kind === "list of texts") return value.split("\n").filter(Boolean);
  if (f.kind === "true or false") return value === "true";
  return ["whole number", "number", "seconds"].includes(f.kind ?? "") && value.trim() !== "" ? Number(value) : value;
}

/** Value is one key of an entry. */
function Value({ field: f, value, onInput }: { field: Field; value: string; onInput: (key: string, value: string) => void }) {
  const id = `field-${f.key}`;
  const common = { id, value, "aria-describedby": `${id}-help`, required: f.required };
  const numeric = ["whole number", "number", "seconds"].includes(f.kind ?? "");
  const options = f.kind === "choice" ? (f.choices ?? []) : f.kind === "true or false" ? ["", "true", "false"] : null;
  return (
    <div class="value">
      <label for={id}>{f.key}</label>
      {options ? (
        <select {...common} onChange={(e) => onInput(f.key, e.currentTarget.value)}>{[...new Set(["", ...options])].map((o) => <option key={o} value={o}>{o || t.asDefault(f.default)}</option>)}</select>
      ) : numeric ? (
        <input {...common} type="number" step={f.kind === "whole number" ? 1 : "any"} min={f.least ?? 0} max={f.ceiling || undefined}
          placeholder={f.default === undefined ? "" : String(f.default)} onInput={(e) => onInput(f.key, e.currentTarget.value)} />
      ) : f.kind === "list of texts" ? (
        <textarea {...common} rows={2} onInput={(e) => onInput(f.key, e.currentTarget.value)} />
      ) : (
        <input {...common} placeholder={f.default === undefined ? "" : String(f.default)} onInput={(e) => onInput(f.key, e.currentTarget.value)} />
      )}
      <p class="hint" id={`${id}-help`}>{f.help.replaceAll("`", "")}</p>
    </div>
  );
}
