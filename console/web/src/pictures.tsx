import { t } from "./strings";

// Pictures go with a message as blocks, as LangGraph's clients send them; files of text go into its words.

export interface Picture { name: string; mime_type: string; data: string }

/** Attached is a file that goes with a message. */
export interface Attached { name: string; picture?: Picture; text?: string }

const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** most bounds the pictures of one message, in bytes; the server takes 16 MB of a request. */
const most = 8 << 20;
/** mostText bounds a file of text, in bytes. */
const mostText = 256 << 10;

/** taken are the files that were dropped or pasted; null where there are none. */
export function taken(data: DataTransfer | null): File[] | null {
  const files = [...(data?.files ?? [])];
  return files.length > 0 ? files : null;
}

/** read reads files, beside those that are there. Where no pictures can go, only files of text are taken. */
export async function read(files: File[], there: Attached[], pictures: boolean): Promise<Attached[]> {
  const all = [...there];
  for (const f of files) {
    if (pictures && kinds.includes(f.type)) all.push({ name: f.name, picture: { name: f.name, mime_type: f.type, data: await base64(f) } });
    else if (f.size > mostText) throw new Error(t.tooLargeFile(f.name, mostText >> 10));
    else all.push({ name: f.name, text: await textIn(f, pictures) });
    if (all.reduce((n, a) => n + (a.picture?.data.length ?? 0), 0) * 0.75 > most) throw new Error(t.tooManyPictures(most >> 20));
  }
  return all;
}

async function textIn(f: File, pictures: boolean): Promise<string> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await f.arrayBuffer());
    if (text.trim() && !text.includes("\0")) return text;
  } catch {
    // no text
  }
  throw new Error(t.noText(f.name, pictures));
}

/** withTexts is a message with the files of text in it, each fenced so that nothing in it ends it. */
export function withTexts(text: string, files: Attached[]): string {
  const fenced = files.filter((a) => a.text !== undefined).map((a) => {
    const fence = "`".repeat(Math.max(3, ...[...a.text!.matchAll(/`+/g)].map((m) => m[0].length + 1)));
    return `${a.name.replace(/[`\n\r]/g, "")}:\n\n${fence}\n${a.text!.replace(/\n$/, "")}\n${fence}`;
  });
  return [text, ...fenced].join("\n\n");
}

function base64(f: File): Promise<string> {
  return new Promise((done, failed) => {
    const r = new FileReader();
    r.onload = () => done(String(r.result).replace(/^[^,]*,/, ""));
    r.onerror = () => failed(r.error ?? new Error(f.name));
    r.readAsDataURL(f);
  });
}

/** Files shows what goes with the message. */
export function Files({ list, onRemove }: { list: Attached[]; onRemove: (i: number) => void }) {
  if (list.length === 0) return null;
  return (
    <ul class="pictures" aria-label={t.files}>
      {list.map((a, i) => (
        <li key={i}>
          {a.picture ? <img src={`data:${a.picture.mime_type};base64,${a.picture.data}`} alt={a.name} /> : <span class="file"><bdi>{a.name}</bdi></span>}
          <button type="button" class="icon" aria-label={t.remove(a.name)} onClick={() => onRemove(i)}>✕</button>
        </li>
      ))}
      {list.some((a) => a.picture) && <li class="hint">{t.picturesHint}</li>}
    </ul>
  );
}
