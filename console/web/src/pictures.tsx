import { t } from "./strings";

// Pictures go with a message as blocks, as LangGraph's clients send them.

export interface Picture { name: string; mime_type: string; data: string }

const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** most bounds the pictures of one message, in bytes; the server takes 16 MB of a request. */
const most = 8 << 20;

/** taken reads the pictures among files that were dropped or pasted; null where there are none. */
export function taken(data: DataTransfer | null): File[] | null {
  const files = [...(data?.files ?? [])];
  return files.length > 0 ? files : null;
}

/** read makes pictures of files, beside those that are there. */
export async function read(files: File[], there: Picture[]): Promise<Picture[]> {
  const all = [...there];
  for (const f of files) {
    if (!kinds.includes(f.type)) throw new Error(t.noPicture(f.name));
    all.push({ name: f.name, mime_type: f.type, data: await base64(f) });
    if (all.reduce((n, p) => n + p.data.length, 0) * 0.75 > most) throw new Error(t.tooManyPictures(most >> 20));
  }
  return all;
}

function base64(f: File): Promise<string> {
  return new Promise((done, failed) => {
    const r = new FileReader();
    r.onload = () => done(String(r.result).replace(/^[^,]*,/, ""));
    r.onerror = () => failed(r.error ?? new Error(f.name));
    r.readAsDataURL(f);
  });
}

/** Pictures shows what goes with the message. */
export function Pictures({ list, onRemove }: { list: Picture[]; onRemove: (i: number) => void }) {
  if (list.length === 0) return null;
  return (
    <ul class="pictures" aria-label={t.pictures}>
      {list.map((p, i) => (
        <li key={i}>
          <img src={`data:${p.mime_type};base64,${p.data}`} alt={p.name} />
          <button type="button" class="icon" aria-label={t.remove(p.name)} onClick={() => onRemove(i)}>✕</button>
        </li>
      ))}
      <li class="hint">{t.picturesHint}</li>
    </ul>
  );
}
