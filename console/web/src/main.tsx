import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "./types";
import { onSignedOut, session as readSession } from "./api";
import { keep, lists } from "./lists";
import { NewView } from "./newview";
import { Keys, Palette, type Command } from "./palette";
import { Rail } from "./rail";
import { RoomView } from "./roomview";
import { RosterView } from "./roster";
import { SettingsView } from "./settings";
import { SignIn } from "./signin";
import { go, local, placeOf } from "./store";
import { ThreadView } from "./threadview";
import { Fault } from "./fault";
import { t } from "./strings";
import "./style.css";

type Theme = "auto" | "light" | "dark";

function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>((local.get("theme") as Theme) || "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    local.set("theme", theme === "auto" ? "" : theme);
  }, [theme]);
  return [theme, () => setTheme(theme === "auto" ? "dark" : theme === "dark" ? "light" : "auto")];
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash || "#/new");
  useEffect(() => {
    const changed = () => setHash(location.hash || "#/new");
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return hash;
}

function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [fault, setFault] = useState("");
  const [over, setOver] = useState<"" | "palette" | "keys">("");
  const [rail, setRail] = useState(false);
  const [, theme] = useTheme();
  const here = useHash();
  const again = () => void readSession().then((s) => (setSession(s), setFault("")), () => setFault(t.offline));

  useEffect(() => {
    onSignedOut(() => setSession((s) => (s?.name === "" ? s : { needed: true, name: "", admin: false })));
    again();
  }, []);
  const inside = session !== null && session.name !== "";
  useEffect(() => {
    if (!inside) return;
    const stop = new AbortController();
    void keep(stop.signal);
    return () => stop.abort();
  }, [inside]);
  useEffect(() => setRail(false), [here]);
  useEffect(() => {
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });

  const signOut = () => void fetch("/signout", { method: "POST" }).then(again, again);
  const commands: Command[] = [
    { label: t.newChat, do: () => go("#/new") },
    ...(session?.admin ? [{ label: t.settings, do: () => go("#/settings") }, { label: t.roster, do: () => go("#/roster") }] : []),
    { label: t.theme, do: theme },
    { label: t.shortcuts, do: () => setOver("keys") },
    ...(session?.needed ? [{ label: t.signOut, do: signOut }] : []),
  ];
  const key = (e: KeyboardEvent) => {
    const typing = /^(INPUT|TEXTAREA)$/.test((e.target as HTMLElement).tagName);
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
      e.preventDefault();
      setOver("palette");
    } else if (e.altKey && e.key.toLowerCase() === "n") {
      e.preventDefault();
      go("#/new");
    } else if (e.altKey && (e.key === "ArrowUp" || e.key === "ArrowDown")) {
      e.preventDefault();
      const places = lists.get().rows.map((r) => placeOf(r.kind, r.id));
      const next = places[Math.min(Math.max(places.indexOf(here) + (e.key === "ArrowDown" ? 1 : -1), 0), places.length - 1)];
      if (next) go(next);
    } else if (!typing && e.key === "?") setOver("keys");
    else if (!typing && e.key === "/") {
      e.preventDefault();
      document.querySelector<HTMLElement>("textarea")?.focus();
    }
  };
  if (!session) return fault ? <Fault words={fault} onClose={again} /> : null;
  if (!inside) return <SignIn onDone={again} />;
  const [, kind, id] = /^#\/(\w+)(?:\/(.+))?$/.exec(here) ?? [];
  return (
    <div class={`frame${rail ? " open" : ""}`}>
      <Rail here={here} session={session} onSignOut={signOut} onTheme={theme} onKeys={() => setOver("keys")} />
      <button type="button" class="icon burger" aria-label={t.menuOpen} aria-expanded={rail} onClick={() => setRail(!rail)}>☰</button>
      <main class="main">
        {kind === "thread" && id ? <ThreadView key={id} id={decodeURIComponent(id)} me={session.name} admin={session.admin} />
          : kind === "room" && id ? <RoomView key={id} id={decodeURIComponent(id)} me={session.name} admin={session.admin} />
          : kind === "settings" ? <SettingsView />
          : kind === "roster" ? <RosterView />
          : <NewView me={session.name} admin={session.admin} />}
      </main>
      {over === "palette" && <Palette commands={commands} onClose={() => setOver("")} />}
      {over === "keys" && <Keys onClose={() => setOver("")} />}
    </div>
  );
}

render(<App />, document.getElementById("app")!);
