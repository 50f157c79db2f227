import { type Piece, pieces, visible } from "./markdown";

interface Shown extends Piece { nodes: ChildNode[] }

/** plain is what cannot mean anything in Markdown where it follows a word that means nothing. */
const plain = /^[\p{L}\p{N} ,;?'"()]*$/u;

/** Growing is a text that is shown while it is written. Only its last block is read again, and words that are
 * added to a paragraph go to its end without reading anything. What is read this way is read whole when it has ended. */
export class Growing {
  private text = "";
  private shown: Shown[] = [];

  show(into: HTMLElement, text: string): void {
    text = visible(text).replace(/\r\n?/g, "\n");
    const added = text.startsWith(this.text) ? text.slice(this.text.length) : null;
    if (added === null || !this.append(added)) this.read(into, text);
    this.text = text;
  }

  /** append puts words at the end of the last paragraph, where that is all that they can mean. */
  private append(added: string): boolean {
    const last = this.shown[this.shown.length - 1];
    const at = last?.nodes.find((node) => node instanceof HTMLElement)?.lastChild;
    if (last?.kind !== "paragraph" || !(at instanceof Text)) return false;
    const word = /\S*\s*$/.exec(last.raw)![0];
    if (!plain.test(word + added)) return false;
    const space = /\s*$/.exec(last.raw)![0]; // it is not shown at the end of a paragraph
    at.data = at.data.trimEnd() + space + added;
    last.raw += added;
    return true;
  }

  /** read reads the text from the last block on that may still change. */
  private read(into: HTMLElement, text: string): void {
    let stay = this.shown.length;
    while (stay > 0 && this.shown[stay - 1].kind === "space") stay--;
    let kept = this.shown.slice(0, Math.max(0, stay - 1));
    let head = kept.map((piece) => piece.raw).join("");
    if (!text.startsWith(head)) [kept, head] = [[], ""];
    for (const piece of this.shown.slice(kept.length)) for (const node of piece.nodes) node.remove();
    const fresh = pieces(text.slice(head.length)).map((piece) => {
      const nodes = piece.render();
      const made = { ...piece, nodes: [...nodes.childNodes] };
      into.append(nodes);
      return made;
    });
    this.shown = [...kept, ...fresh];
  }
}
