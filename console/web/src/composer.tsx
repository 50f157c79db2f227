import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Delegate, Mentions } from "./types";
import { mentions } from "./api";
import { lists } from "./lists";
import { guess } from "./offers";
import { type Attached, type FileBlock, Files, read, taken, withTexts } from "./files";
import { drafts } from "./store";
import { words } from "./talk";
import { Avatar } from "./voice";
import { t } from "./strings";

interface Props {
  /** draft is the name under which what is not sent yet is kept. */
  draft: string;
  /** anywhere offers mentions in the middle of a text too, as a shared session reads them. */
  anywhere: boolean;
  busy: boolean;
  hears: (m: Mentions, text: string) => string;
  onSend: (text: string, files: FileBlock[]) => Promise<void>;
  /** files says that all files can go with a message; those of text always can. */
  files?: boolean;
  onStop: () => Promise<string[]>;
  onUp?: () => void;
  onFault: (words: string) => void;
  /** given is a text that is put into the composer from outside; each one has another turn. */
  given?: { text: string; turn: number };
  children?: ComponentChildren;
}

const nobody: Mentions = { kind: "lead", to: [], offers: [] };

/** Composer takes a message. What it offers and whom it names comes from the server's own parser. */
export function Composer(p: Props) {
  const [text, setText] = useState(() => drafts.get(p.draft));
  const [found, setFound] = useState<Mentions>(nobody);
  // What is offered belongs to the text that stands there now: Enter must not take an older one's.
  const [offers, setOffers] = useState<Delegate[]>([]);
  const [at, setAt] = useState(0);
  const [files, setFiles] = useState<Attached[]>([]);
  const latest = useRef(text);
  const open = offers.length > 0;
  const area = useRef<HTMLTextAreaElement>(null);
  const asked = useRef<AbortController | null>(null);
  const chosen = useRef<HTMLInputElement>(null);

  const show = (value: string) => setText((latest.current = value));
  const write = (value: string) => {
    show(value);
    drafts.set(p.draft, value);
  };
  useEffect(() => show(drafts.get(p.draft)), [p.draft]);
  useLayoutEffect(() => {
    if (!p.given?.turn) return; // the first one is nobody's
    write(p.given.text);
    area.current?.focus();
  }, [p.given?.turn]);
  useLayoutEffect(() => {
    const el = area.current!;
    el.style.height = "auto";
    el.style.height = `${Math.min(el.scrollHeight + 2, 240)}px`;
  }, [text]);

  /** offer shows a list; the same names keep what is chosen. */
  const offer = (list: Delegate[]) => {
    if (list.map((d) => d.name).join() !== offers.map((d) => d.name).join()) setAt(0);
    setOffers(list);
  };
  /** ask has the server read the text up to the cursor. */
  const ask = async (value: string, offering: boolean) => {
    asked.current?.abort();
    const stop = (asked.current = new AbortController());
    const cursor = area.current?.selectionStart ?? value.length;
    offer(offering ? guess(value.slice(0, cursor), p.anywhere, lists.get().roster) : []);
    if (!value.includes("@")) return setFound(nobody);
    try {
      const m = await mentions(value, cursor, p.anywhere, stop.signal);
      if (stop.signal.aborted) return;
      setFound(m);
      if (offering) setOffers(m.offers);
    } catch {
      // the next keystroke asks again
    }
  };
  useEffect(() => void ask(text, false), [p.draft, p.anywhere]);

  const take = (d: Delegate) => {
    const cursor = area.current?.selectionStart ?? text.length;
    const start = text.lastIndexOf("@", cursor - 1);
    const value = `${text.slice(0, start)}@${d.name} ${text.slice(cursor).replace(/^ /, "")}`;
    write(value);
    setOffers([]);
    requestAnimationFrame(() => {
      const to = start + d.name.length + 2;
      area.current?.setSelectionRange(to, to);
      area.current?.focus();
      void ask(value, false);
    });
  };
  const send = async () => {
    const sent = text.trim();
    const shown = files;
    if (!sent) return;
    asked.current?.abort();
    setOffers([]);
    write("");
    setFiles([]);
    setFound(nobody);
    try {
      await p.onSend(withTexts(sent, shown), shown.flatMap((a) => a.block ?? []));
    } catch (err) {
      setFiles(shown);
      write(latest.current.trim() ? `${sent}\n\n${latest.current}` : sent); // neither is lost
      p.onFault(words(err));
    }
  };
  const add = (given: File[]) => void read(given, files, !!p.files).then(setFiles, (err) => p.onFault(words(err)));
  const attach = (e: Event, data: DataTransfer | null) => {
    const given = taken(data);
    if (!given) return;
    e.preventDefault();
    add(given);
  };
  const stop = async () => {
    try {
      const back = await p.onStop();
      if (back.length) write([...back, latest.current].filter((x) => x.trim()).join("\n\n"));
    } catch (err) {
      p.onFault(words(err));
    }
  };
  const key = (e: KeyboardEvent) => {
    if (e.isComposing || e.keyCode === 229) return; // the second is what some browsers say of an IME
    const n = offers.length;
    if (open && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      e.preventDefault();
      setAt((at + (e.key === "ArrowDown" ? 1 : n - 1)) % n);
    } else if (open && (e.key === "Tab" || (e.key === "Enter" && !e.shiftKey))) {
      e.preventDefault();
      take(offers[at] ?? offers[0]);
    } else if (e.key === "Escape" && open) {
      e.stopPropagation();
      asked.current?.abort();
      setOffers([]);
    } else if (e.key === "Escape" && p.busy && text === "") {
      void stop();
    } else if (e.key === "Enter" && !e.shiftKey && !matchMedia("(pointer: coarse)").matches) { // a key on glass has no Shift beside it
      e.preventDefault();
      void send();
    } else if (e.key === "ArrowUp" && text === "") p.onUp?.();
  };
  return (
    <form class="composer" onSubmit={(e) => (e.preventDefault(), void send())} onDragOver={(e) => e.preventDefault()} onDrop={(e) => attach(e, e.dataTransfer)}>
      {open && (
        <ul class="offers" role="listbox" aria-label={t.mentions} id="mentions">
          {offers.map((d, i) => (
            <li key={d.name} id={`mention-${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => (e.preventDefault(), take(d))} onMouseMove={() => setAt(i)}>
              <Avatar name={d.name} small />
              <bdi>{d.name}</bdi> <span class="hint">{d.description || d.type}</span>
            </li>
          ))}
        </ul>
      )}
      {p.children}
      <Files list={files} onRemove={(i) => setFiles(files.filter((_, n) => n !== i))} />
      <textarea
        ref={area}
        aria-label={t.message}
        placeholder={t.placeholder}
        rows={1}
        value={text}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={open ? "mentions" : undefined}
        aria-activedescendant={open ? `mention-${at}` : undefined}
        aria-describedby="hears"
        dir="auto"
        onInput={(e) => (write(e.currentTarget.value), void ask(e.currentTarget.value, !(e as InputEvent).inputType?.startsWith("insertFromPaste")))}
        onKeyDown={key}
        onPaste={(e) => attach(e, e.clipboardData)}
        onBlur={() => setOffers([])}
      />
      <div class="under">
        <button type="button" class="icon" aria-label={t.attach} title={t.attach} onClick={() => chosen.current?.click()}>＋</button>
        <input ref={chosen} type="file" multiple hidden tabIndex={-1} aria-label={t.attach} onChange={(e) => (add([...(e.currentTarget.files ?? [])]), (e.currentTarget.value = ""))} />
        {found.to.map((name) => <span key={name} class="chip"><Avatar name={name} small />{name}</span>)}
        <span class="hint" id="hears" aria-live="polite">{found.kind === "unknown" && open ? "" : p.hears(found, text)}</span>
        <span class="grow" />
        {p.busy && <button type="button" class="stop" onClick={() => void stop()}>{t.stop}</button>}
        <button type="submit" class="primary" disabled={!text.trim()}>{t.send}</button>
      </div>
    </form>
  );
}
