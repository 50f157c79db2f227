import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Growing } from "./growing";
import { highlight, maxMarkdown, visible } from "./markdown";
import { t } from "./strings";

/** Markdown shows what a voice has written. Code is coloured when the text is whole. */
export function Markdown({ text, live }: { text: string; live?: boolean }) {
  const ref = useRef<HTMLDivElement>(null);
  const [all, setAll] = useState(false);
  const long = text.length > maxMarkdown;
  const shown = useRef(new Growing());
  useLayoutEffect(() => {
    if (long || !ref.current) return;
    if (!live) {
      ref.current.replaceChildren(); // code blocks have been dressed
      shown.current = new Growing();
    }
    shown.current.show(ref.current, text);
    if (live) return;
    for (const code of ref.current.querySelectorAll<HTMLElement>("pre > code")) {
      dress(code);
      void highlight(code);
    }
  }, [text, live, long]);
  if (!long) return <div class="text" dir="auto" ref={ref} />;
  return (
    <div class="text" dir="auto">
      <p class="hint">{t.long(Math.round(text.length / 1024))}</p>
      <pre class="plain" tabIndex={0}>{visible(all ? text : text.slice(0, 20_000))}</pre>
      {!all && <button type="button" class="quiet" onClick={() => setAll(true)}>{t.showAll}</button>}
    </div>
  );
}

/** dress gives a code block its copy button, and the keyboard a way to scroll it. */
function dress(code: HTMLElement): void {
  const pre = code.parentElement!;
  pre.tabIndex = 0;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = t.copyCode;
  button.onclick = async () => {
    await copy(code.textContent ?? "");
    button.textContent = t.copied;
    setTimeout(() => (button.textContent = t.copyCode), 1500);
  };
  const holder = document.createElement("div");
  holder.className = "code";
  pre.replaceWith(holder);
  holder.append(pre, button);
}

/** copy puts text onto the clipboard, also where the page is not of a secure origin. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Elapsed counts the seconds since a moment. */
export function Elapsed({ since }: { since: number }) {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const s = Math.floor((Date.now() - since) / 1000);
  return s > 1 ? <span class="hint">{t.took(s)}</span> : null;
}
