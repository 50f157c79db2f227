import { useEffect, useState } from "preact/hooks";
import type { Field, Settings } from "./types";
import { Fault as Refused, settings } from "./api";
import { Fault } from "./fault";
import { words } from "./talk";
import { t } from "./strings";

const keys = Object.keys(t.knobs);

/** leastOf is the least value of a number: a whole one of a room is 1 at the least. */
const leastOf = (f: Field) => f.least || (f.kind === "whole number" ? 1 : 0);

/** SettingsView is Settings ▸ Behavior ▸ Room: the knobs of a room, with what they do. */
export function SettingsView() {
  const [now, setNow] = useState<Settings | null>(null);
  const [values, setValues] = useState<Record<string, string>>({});
  const [theirs, setTheirs] = useState<Settings | null>(null);
  const [fault, setFault] = useState("");
  const [said, setSaid] = useState("");

  const take = (s: Settings) => {
    setNow(s);
    setTheirs(null);
    setValues(Object.fromEntries(keys.map((k) => [k, String(s.in_force[k] ?? "")])));
  };
  useEffect(() => void settings.read().then(take, (err) => setFault(err instanceof Refused && err.status === 403 ? t.adminOnly : words(err))), []);
  if (!now) return <Fault words={fault} onClose={() => setFault("")} />;

  const fieldOf = (key: string): Field => now.schema.find((f) => f.key === key) ?? { key, help: "", group: "", kind: "", live: false };
  const valueOf = (k: string, v: unknown) => (fieldOf(k).kind === "choice" ? String(v) : Number(v));
  const odd = (s: Settings, k: string) => s.written[k] !== undefined && valueOf(k, s.written[k]) !== valueOf(k, s.in_force[k]); // such as above the ceiling
  const changed = keys.filter((k) => valueOf(k, values[k]) !== valueOf(k, now.in_force[k]) || odd(now, k));
  const other = theirs && keys.filter((k) => theirs.in_force[k] !== now.in_force[k] || theirs.written[k] !== now.written[k]);
  const save = async (version: string) => {
    setFault("");
    setSaid("");
    if (changed.length === 0) return setSaid(t.unchanged);
    try {
      take(await settings.save(version, Object.fromEntries(changed.map((k) => [k, valueOf(k, values[k])]))));
      setSaid(t.saved);
    } catch (err) {
      if (err instanceof Refused && err.status === 409) return setTheirs(await settings.read());
      setFault(words(err));
    }
  };
  const input = (key: string, raw: string) => {
    const f = fieldOf(key);
    const n = Number(raw.replace(/[^\d.]/g, ""));
    setSaid("");
    setValues({ ...values, [key]: raw === "" ? "" : String(Math.min(f.kind === "whole number" ? Math.trunc(n) : n, f.ceiling || Infinity)) });
  };
  return (
    <div class="page">
      <h1>{t.settings}</h1>
      <h2>{t.behavior}</h2>
      {now.faults.length > 0 && (
        <div class="notice bad" role="alert">
          <strong>{t.faults}</strong>
          <ul>{now.faults.map((f, i) => <li key={i}>{t.fault(f.line, `${f.key ? f.key + ": " : ""}${f.message}`)}</li>)}</ul>
        </div>
      )}
      {!now.path && <p class="notice">{t.noFile}</p>}
      <form aria-label={t.room} class="knobs" noValidate onSubmit={(e) => (e.preventDefault(), void save(now.version))}>
        <h3>{t.room}</h3>
        {keys.map((key) => {
          const f = fieldOf(key);
          const choice = f.kind === "choice";
          const value = choice ? values[key] : Number(values[key]) || Number(f.default) || 0;
          return (
            <div class="knob" key={key}>
              <label for={key}>{t.knobs[key].label}</label>
              {choice ? <select id={key} value={values[key]} aria-describedby={`${key}-help`} onChange={(e) => (setSaid(""), setValues({ ...values, [key]: e.currentTarget.value }))}>{(f.choices ?? []).map((c) => <option key={c} value={c}>{t.choiceOf[c] ?? c}</option>)}</select> : <input id={key} type="number" inputMode={f.kind === "whole number" ? "numeric" : "decimal"} min={leastOf(f)} max={f.ceiling} step={f.kind === "whole number" ? 1 : "any"} value={values[key]} aria-describedby={`${key}-help`} onInput={(e) => {
                input(key, e.currentTarget.value);
                if (Number(e.currentTarget.value) > (f.ceiling || Infinity)) e.currentTarget.value = String(f.ceiling);
              }} />}
              <p class="hint" id={`${key}-help`}>{t.knobs[key].effect(value as never)} {choice ? t.choiceHint(t.choiceOf[String(f.default)]) : t.knobHint(Number(f.default ?? 0), leastOf(f), f.ceiling ?? 0)}</p>
              {odd(now, key) && <p class="notice">{t.asWritten(now.written[key], now.in_force[key])}</p>}
              {other?.includes(key) && <p class="notice">{t.theirs(theirs!.written[key] ?? theirs!.in_force[key])} · {t.mine(values[key])}</p>}
            </div>
          );
        })}
        {theirs && (
          <div class="notice bad" role="alert">
            <p>{t.conflict} {other?.length === 0 && t.conflictElsewhere}</p>
            <div class="choices">
              <button type="button" onClick={() => take(theirs)}>{t.takeTheirs}</button>
              <button type="button" onClick={() => void save(theirs.version)}>{t.keepMine}</button>
            </div>
          </div>
        )}
        <Fault words={fault} onClose={() => setFault("")} />
        <div class="choices">
          <span role="status" class="hint">{said}</span>
          {now.path && <button type="submit" class="primary">{t.save}</button>}
        </div>
      </form>
    </div>
  );
}
