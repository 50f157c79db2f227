import { t } from "./strings";

/** hue is a name's colour, one of twenty-four; style.css has them for both themes. */
export function hue(name: string): number {
  let h = 0;
  for (const c of name) h = (h * 31 + (c.codePointAt(0) ?? 0)) >>> 0;
  return ((h ^ (h >>> 15)) >>> 0) % 24;
}

export function initials(name: string): string {
  const parts = name.split(/[\s._-]+/).filter(Boolean);
  const letters = parts.length > 1 ? [parts[0], parts[1]].map((p) => [...p][0]) : [...(parts[0] ?? "?")].slice(0, 2);
  return letters.join("").toUpperCase();
}

/** mixed reports whether a name has Latin letters beside those of alphabets that look like them. */
export function mixed(name: string): boolean {
  return /[a-z]/i.test(name) && /[\u0370-\u052F\u2100-\u214F\uFF00-\uFFEF]/.test(name);
}

export function Avatar({ name, small }: { name: string; small?: boolean }) {
  return (
    <span class={`avatar hue-${hue(name)}${small ? " small" : ""}`} aria-hidden="true">
      {initials(name)}
    </span>
  );
}

export function Name({ name, plain }: { name: string; plain?: boolean }) {
  return (
    <>
      <bdi class={`name ${plain ? "plain" : `hue-${hue(name)}`}`}>{name}</bdi>
      {mixed(name) && <span class="tag warn" title={t.mixedHint}>{t.mixed}</span>}
    </>
  );
}
