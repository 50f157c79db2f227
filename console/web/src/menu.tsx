import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Action { label: string; do: () => void }

/** Menu is a button with a list of actions behind it. */
export function Menu({ label, actions }: { label: string; actions: () => Action[] }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => { // at once: the next key is for the menu
    if (!open) return;
    root.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (e: Event) => !root.current?.contains(e.target as Node) && setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const shut = () => {
    setOpen(false);
    button.current?.focus();
  };
  const key = (e: KeyboardEvent) => {
    const items = [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[e.key];
    if (e.key === "Escape") {
      e.stopPropagation();
      shut();
    } else if (e.key === "Tab") setOpen(false);
    else if (to !== undefined) {
      e.preventDefault();
      items[(to + items.length) % items.length]?.focus();
    }
  };
  return (
    <span class="menu" ref={root}>
      <button type="button" class="icon" aria-label={label} aria-haspopup="menu" aria-expanded={open} ref={button} onClick={() => setOpen(!open)}>⋯</button>
      {open && (
        <div role="menu" aria-label={label} onKeyDown={key}>
          {actions().map((a) => (
            <button key={a.label} type="button" role="menuitem" tabIndex={-1} onClick={() => (shut(), a.do())}>{a.label}</button>
          ))}
        </div>
      )}
    </span>
  );
}
