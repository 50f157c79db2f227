import DOMPurify from "dompurify";
import { marked, type Token } from "marked";
import { t } from "./strings";

// Nothing that a model wrote is HTML before it has been here.

const tags = ["a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "li", "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"];
const attributes = ["href", "title", "alt", "src", "class", "start", "align", "type", "checked", "disabled"];

/** Beyond this many characters a text is shown as it is: its Markdown would take too long. */
export const maxMarkdown = 200_000;

const purify = DOMPurify(window);
const coloured = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    const href = node.getAttribute("href") ?? "";
    if (!/^(https?:|mailto:)/i.test(href)) node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  if (node.tagName === "IMG" && !/^data:image\/(png|jpeg|gif|webp|avif);/i.test(node.getAttribute("src") ?? "")) {
    node.replaceWith(linkTo(node.getAttribute("src") ?? "", node.getAttribute("alt") ?? ""));
  }
  if (node.tagName === "INPUT") node.replaceWith(node.getAttribute("type") === "checkbox" ? (node.hasAttribute("checked") ? "☑" : "☐") : "");
  if (node.hasAttribute("class") && !/^language-[\w+#-]{1,30}$/.test(node.getAttribute("class") ?? "")) node.removeAttribute("class");
});

/** linkTo stands for a picture of elsewhere: nothing is asked of third parties by looking. */
function linkTo(src: string, alt: string): HTMLElement {
  const a = document.createElement(/^https?:/i.test(src) ? "a" : "span");
  a.textContent = t.external(alt || src.slice(0, 80));
  if (a instanceof HTMLAnchorElement) {
    a.href = src;
    a.target = "_blank";
    a.rel = "noopener noreferrer nofollow";
  }
  return a;
}

/** visible shows what would turn the direction of the text around it. */
export function visible(text: string): string {
  return text.replace(/[\u202A-\u202E\u2066-\u2069]/g, (c) => `‹U+${c.charCodeAt(0).toString(16).toUpperCase()}›`);
}

// Raw HTML is text here: who writes a tag wants it to be seen.
marked.use({ gfm: true, breaks: true, renderer: { html: (token) => escape(token.text) } });

function escape(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

/** Piece is a block of a text, such as a paragraph or a list. */
export interface Piece { kind: string; raw: string; render: () => DocumentFragment }

/** pieces reads Markdown that visible has made harmless. */
export function pieces(text: string): Piece[] {
  return marked.lexer(text).map((token) => ({ kind: token.type, raw: token.raw, render: () => render(token) }));
}

/** render turns a block of Markdown into harmless nodes. */
function render(token: Token): DocumentFragment {
  const out = purify.sanitize(marked.parser([token]), { ALLOWED_TAGS: tags, ALLOWED_ATTR: attributes, ALLOW_DATA_ATTR: false, RETURN_DOM_FRAGMENT: true });
  for (const table of out.querySelectorAll("table")) {
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", t.table);
    table.replaceWith(scroll);
    scroll.append(table);
  }
  return out;
}

/** highlight colours code; the languages come when the first block does. */
export async function highlight(code: HTMLElement): Promise<void> {
  const language = /language-([\w+#-]+)/.exec(code.className)?.[1];
  const text = code.textContent ?? "";
  if (!language || text.length > 50_000) return;
  const { hljs } = await import("./highlight");
  if (!code.isConnected || !hljs.getLanguage(language)) return;
  const html = hljs.highlight(text, { language, ignoreIllegals: true }).value;
  code.replaceChildren(coloured.sanitize(html, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true }));
}
