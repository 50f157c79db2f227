import { t } from "./strings";

/** Fault tells what did not go as it should. */
export function Fault({ words, onClose }: { words: string; onClose: () => void }) {
  if (!words) return null;
  return (
    <div class="fault" role="alert">
      <span>{words}</span>
      <button type="button" class="icon" aria-label={t.close} onClick={onClose}>✕</button>
    </div>
  );
}

export function Gone({ words }: { words: string }) {
  return <div class="gone"><div class="fault" role="alert"><span>{words}</span></div></div>;
}
