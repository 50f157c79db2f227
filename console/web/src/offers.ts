import type { Delegate } from "./types";

// What the server's parser will offer, guessed from the roster that the page knows, so that the
// list is there with the keystroke. The server's own answer follows and takes its place.

const key = (name: string) => name.normalize("NFKC").toLowerCase();

/** guess is who a text up to the cursor may go on to name. */
export function guess(head: string, anywhere: boolean, roster: Delegate[]): Delegate[] {
  const at = head.lastIndexOf("@");
  if (at < 0 || /\s/.test(head.slice(at)) || /[\p{L}\p{N}_]$/u.test(head.slice(0, at))) return [];
  const before = head.slice(0, at).trim().split(/\s+/).filter(Boolean).map(key);
  const left = roster.filter((d) => anywhere || !before.includes("@" + key(d.name)));
  if (!anywhere && before.length !== roster.length - left.length) return [];
  const want = key(head.slice(at + 1));
  const rank = (d: Delegate): number => {
    const name = key(d.name);
    const i = name.indexOf(want);
    return i <= 0 ? i : name.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(want)) ? 1 : 2;
  };
  return left.filter((d) => rank(d) >= 0).sort((a, b) => rank(a) - rank(b));
}
