import { useState } from "preact/hooks";
import { Fault } from "./fault";
import { t } from "./strings";

/** SignIn takes a key once; the server keeps it in a cookie that no script reads. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [key, setKey] = useState("");
  const [fault, setFault] = useState("");
  const send = async () => {
    try {
      const r = await fetch("/signin", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ key }) });
      if (r.ok) return onDone();
      setFault(r.status === 401 ? t.wrongKey : `${r.status} ${r.statusText}`);
    } catch {
      setFault(t.offline);
    }
  };
  return (
    <main class="signin">
      <form class="sheet" onSubmit={(e) => (e.preventDefault(), void send())}>
        <div class="brand"><span class="mark" aria-hidden="true" />{t.app}</div>
        <h1>{t.signIn}</h1>
        <label>{t.key}<input type="password" autoComplete="current-password" required autoFocus value={key} onInput={(e) => setKey(e.currentTarget.value)} /></label>
        <p class="hint">{t.keyHint}</p>
        <Fault words={fault} onClose={() => setFault("")} />
        <button type="submit" class="primary wide">{t.signIn}</button>
      </form>
    </main>
  );
}
