import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  title: string; ok: string; cancel: string; danger?: boolean;
  field?: { label: string; value: string; asking?: string; hint?: string };
  onOk: (value: string) => void; onClose: () => void;
}

/** Modal holds the focus until it is closed. */
export function Modal({ label, onClose, children }: { label: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current!.showModal(), []);
  return (
    <dialog ref={ref} aria-label={label} onClose={onClose} onKeyDown={(e) => e.stopPropagation()} onClick={(e) => e.target === ref.current && onClose()}>
      <div class="sheet">{children}</div>
    </dialog>
  );
}

/** Dialog asks before something is done, or for a word. */
export function Dialog({ title, ok, cancel, danger, field, onOk, onClose }: Props) {
  const [value, setValue] = useState(field?.value ?? "");
  return (
    <Modal label={title} onClose={onClose}>
      <form onSubmit={(e) => (e.preventDefault(), onOk(value))}>
        {field?.asking && <p>{field.asking}</p>}
        {field?.hint && <p class="hint">{field.hint}</p>}
        {field ? <label>{field.label}<input value={value} maxLength={field.asking ? 20_000 : 200} onInput={(e) => setValue(e.currentTarget.value)} /></label> : <p>{title}</p>}
        <div class="choices">
          <button type="button" onClick={onClose}>{cancel}</button>
          <button type="submit" class={danger ? "danger" : "primary"}>{ok}</button>
        </div>
      </form>
    </Modal>
  );
}
