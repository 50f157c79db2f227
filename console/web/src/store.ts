import { useEffect, useState } from "preact/hooks";

/** Store is a value that components follow. Listeners are told once a frame at most. */
export class Store<S extends object> {
  private listeners = new Set<() => void>();
  private told = false;

  constructor(private state: S) {}

  get = (): S => this.state;

  set(change: Partial<S>): void {
    this.state = { ...this.state, ...change };
    if (this.told) return;
    this.told = true;
    const tell = () => {
      if (!this.told) return;
      this.told = false;
      clearTimeout(late);
      for (const f of this.listeners) f();
    };
    const late = setTimeout(tell, 100); // a window that is not seen has no frames
    requestAnimationFrame(tell);
  }

  follow(f: () => void): () => void {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }
}

/** useStore renders again when the store's value changes; without is a part that does not matter here. */
export function useStore<S extends object>(store: Store<S>, without?: keyof S): S {
  const [, again] = useState(0);
  useEffect(() => {
    let shown: S | undefined; // it may have changed between the rendering and now
    const look = () => {
      const now = store.get();
      const old = shown;
      shown = now;
      if (!old || (Object.keys(now) as (keyof S)[]).some((k) => k !== without && now[k] !== old[k])) again((n) => n + 1);
    };
    look();
    return store.follow(look);
  }, [store]);
  return store.get();
}

/** local reads and writes what the browser keeps for this page. */
export const local = {
  get(key: string): string {
    try {
      return localStorage.getItem("langrooms." + key) ?? "";
    } catch {
      return "";
    }
  },
  set(key: string, value: string): void {
    try {
      if (value) localStorage.setItem("langrooms." + key, value);
      else localStorage.removeItem("langrooms." + key);
    } catch {
      // a browser that keeps nothing still shows everything
    }
  },
};

/** drafts are what is written and not sent. Each window has its own; one that is opened anew begins with
 * the newest of any. */
export const drafts = {
  get(key: string): string {
    try {
      const own = sessionStorage.getItem("langrooms.draft." + key);
      if (own !== null) return own;
    } catch {
      return "";
    }
    const text = local.get("draft." + key);
    drafts.set(key, text);
    return text;
  },
  set(key: string, text: string): void {
    try {
      sessionStorage.setItem("langrooms.draft." + key, text);
    } catch {
      // as above
    }
    local.set("draft." + key, text);
  },
};

/** go leads to a place of the page. */
export function go(hash: string): void {
  if (location.hash !== hash) location.hash = hash;
}

export const placeOf = (kind: "thread" | "room", id: string) => `#/${kind}/${encodeURIComponent(id)}`;
