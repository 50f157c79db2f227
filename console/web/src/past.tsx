import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Entry } from "./types";
import { memo } from "./memo";
import type { Action } from "./menu";
import { Message, Plain, rounds } from "./message";

// A long conversation is cut into chunks. Those near what is looked at are whole; the others keep
// their height and hold the bare words, so that the search in the page and screen readers find
// all of it. A chunk changes its height only here, and then what is looked at stays where it is.

/** size is how many messages a chunk has. */
const size = 40;
/** near is how far from what is looked at a chunk is whole, in pixels. */
const near = 1500;

interface Anchor { id: string; top: number }

/** Place is where one looks in a transcript: it keeps what is looked at in its place, or the newest in sight. */
export class Place {
  readonly box = { current: null as HTMLDivElement | null };
  readonly inner = { current: null as HTMLDivElement | null };
  private atEnd = true;
  private last = 0;
  private anchor: Anchor | null = null;

  constructor(private away: (is: boolean) => void) {}

  settle = () => {
    const el = this.box.current;
    if (!el) return;
    if (Math.abs(el.scrollTop - this.last) > 1) this.scrolled(); // such as by the search in the page, before anybody was told
    if (this.atEnd) el.scrollTop = el.scrollHeight;
    else if (this.anchor) {
      const { id, top } = this.anchor;
      const there = el.querySelector(`[data-id="${CSS.escape(id)}"]`);
      const moved = there ? there.getBoundingClientRect().top - el.getBoundingClientRect().top - top : 0;
      if (Math.abs(moved) >= 1) el.scrollTop += moved;
    }
    this.last = el.scrollTop;
  };

  /** mark remembers what is looked at. */
  private mark() {
    const box = this.box.current!;
    const r = box.getBoundingClientRect();
    this.anchor = null;
    for (let y = 0; y < r.height / 2 && !this.anchor; y = y > 0 ? -y : 24 - y) { // from the middle, where a search puts what it finds
      const el = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2 + y)?.closest<HTMLElement>("[data-id]");
      if (el && box.contains(el)) this.anchor = { id: el.dataset.id!, top: el.getBoundingClientRect().top - r.top };
    }
  }

  scrolled = () => {
    const el = this.box.current!;
    const up = el.scrollTop < this.last - 1;
    this.last = el.scrollTop;
    const below = el.scrollHeight - el.scrollTop - el.clientHeight;
    if (up && below > 1) this.atEnd = false; // by however little: who reads is not pulled down again
    else if (!up && below < 60) this.atEnd = true; // what grows below is no scrolling
    this.away(!this.atEnd);
    if (!this.atEnd) this.mark();
  };

  newest = () => {
    this.atEnd = true;
    this.away(false);
    this.settle();
  };

  /** follow settles whenever something has another size, until it is taken back. */
  follow(): () => void {
    const sized = new ResizeObserver(this.settle);
    sized.observe(this.box.current!);
    sized.observe(this.inner.current!);
    return () => sized.disconnect();
  }
}

interface Chunk { key: string; list: Entry[]; before: Entry | undefined }

function cut(entries: Entry[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (let i = 0; i < entries.length; i += size) chunks.push({ key: entries[i].id, list: entries.slice(i, i + size), before: entries[i - 1] });
  return chunks;
}

/** guessed is the height of a chunk that was not seen yet. */
function guessed(list: Entry[]): number {
  return list.reduce((sum, e) => sum + 66 + 23 * Math.min(40, e.text.length / 90 + e.text.split("\n", 40).length - 1), 0);
}

/** Past shows what was said. */
export const Past = memo(function Past({ entries, place, actions }: { entries: Entry[]; place: Place; actions: (e: Entry) => Action[] }) {
  const chunks = useMemo(() => cut(entries.filter((e) => !e.queued)), [entries]);
  const [seen, setSeen] = useState<Set<string>>(new Set());
  const [lit, setLit] = useState(4);
  const heights = useRef(new Map<string, number>());
  const watch = useRef<IntersectionObserver | null>(null);

  useLayoutEffect(() => {
    const observer = new IntersectionObserver((changes) => {
      changes = changes.filter((c) => c.isIntersecting || !inUse(c.target));
      for (const c of changes) if (!c.isIntersecting) heights.current.set((c.target as HTMLElement).dataset.chunk!, c.boundingClientRect.height);
      setSeen((old) => {
        const now = new Set(old);
        for (const c of changes) now[c.isIntersecting ? "add" : "delete"]((c.target as HTMLElement).dataset.chunk!);
        return now;
      });
    }, { root: place.box.current, rootMargin: `${near}px 0px` });
    watch.current = observer;
    for (const el of place.box.current!.querySelectorAll("[data-chunk]")) observer.observe(el);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => place.settle(), [seen, lit, chunks]);
  useEffect(() => {
    if (lit < chunks.length) return whenIdle(() => setLit(lit + 8));
  }, [lit, chunks.length]);

  return (
    <>
      {chunks.map((c, i) => {
        const end = i >= chunks.length - 2;
        const whole = end || seen.has(c.key);
        return <Stretch key={c.key} name={c.key} list={c.list} before={c.before} whole={whole} last={i === chunks.length - 1} lit={chunks.length - i <= lit}
          height={whole ? 0 : (heights.current.get(c.key) ?? guessed(c.list))} watch={watch} actions={actions} />;
      })}
    </>
  );
});

interface StretchProps {
  name: string; list: Entry[]; before: Entry | undefined; whole: boolean; lit: boolean; last: boolean; height: number;
  watch: { current: IntersectionObserver | null }; actions: (e: Entry) => Action[];
}

/** Stretch is a chunk. What is filled in later is no news to a screen reader. */
const Stretch = memo(function Stretch({ name, list, before, whole, lit, last, height, watch, actions }: StretchProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const el = ref.current!;
    watch.current?.observe(el);
    return () => watch.current?.unobserve(el);
  }, []);
  return (
    <div ref={ref} data-chunk={name} class={whole ? "" : "far"} aria-live={last ? undefined : "off"} style={whole ? { height: "" } : { height: `${height}px` }}>
      {whole ? list.map((e, i) => <Message key={e.id} entry={e} head={rounds(i ? list[i - 1] : before, e)} actions={actions} />) : lit && list.map((e) => <Plain key={e.id} entry={e} />)}
    </div>
  );
});

/** inUse reports whether something in a chunk has the focus or is selected. */
function inUse(chunk: Element): boolean {
  const s = getSelection();
  return chunk.contains(document.activeElement) || (!!s && !s.isCollapsed && s.containsNode(chunk, true));
}

/** whenIdle does something when the browser has nothing better to do; the result takes it back. */
function whenIdle(f: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(f, 50);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(f, { timeout: 500 });
  return () => cancelIdleCallback(idle);
}
