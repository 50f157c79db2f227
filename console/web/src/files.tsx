import { t } from "./strings";

// In a thread files go with a message as blocks, as LangGraph's clients send them; in a shared session those of text go
// into its words.

/** FileBlock is a file as it is sent. */
export interface FileBlock { type: "image" | "file"; name: string; mime_type: string; data: string }

/** Attached is a file that goes with a message. */
export interface Attached { name: string; block?: FileBlock; text?: string }

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const isPicture = (type: string) => pictures.includes(type);

/** most is how many files a message has, mostOne and mostAll bound them in bytes: the server takes no more. */
const most = 8, mostOne = 5 << 20, mostAll = 8 << 20;
/** mostText bounds a file of text that goes into the words, in bytes. */
const mostText = 256 << 10;

/** taken are the files that were dropped or pasted; null where there are none. */
export function taken(data: DataTransfer | null): File[] | null {
  const files = [...(data?.files ?? [])];
  return files.length > 0 ? files : null;
}

/** read reads files, beside those that are there; blocks says that they can go as blocks. */
export async function read(files: File[], there: Attached[], blocks: boolean): Promise<Attached[]> {
  const all = [...there];
  for (const f of files) {
    const bound = blocks ? mostOne : mostText;
    if (f.size > bound) throw new Error(t.tooLargeFile(f.name, bound >> 10));
    all.push(blocks ? { name: f.name, block: { type: isPicture(f.type) ? "image" : "file", name: f.name, mime_type: f.type || "application/octet-stream", data: await base64(f) } } : { name: f.name, text: await textIn(f) });
    if (all.length > most || all.reduce((n, a) => n + (a.block?.data.length ?? 0), 0) * 0.75 > mostAll) throw new Error(t.tooManyFiles(most, mostAll >> 20));
  }
  return all;
}

async function textIn(f: File): Promise<string> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await f.arrayBuffer());
    if (text.trim() && !text.includes("\0")) return text;
  } catch {
    // no text
  }
  throw new Error(t.noText(f.name));
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
          {a.block?.type === "image" ? <img src={`data:${a.block.mime_type};base64,${a.block.data}`} alt={a.name} /> : <span class="file"><bdi>{a.name}</bdi></span>}
          <button type="button" class="icon" aria-label={t.remove(a.name)} onClick={() => onRemove(i)}>✕</button>
        </li>
      ))}
      {list.some((a) => a.block) && <li class="hint">{t.filesHint}</li>}
    </ul>
  );
}
