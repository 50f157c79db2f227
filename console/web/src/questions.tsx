import { useState } from "preact/hooks";
import type { Entry, Question } from "./types";
import { t } from "./strings";

/** Leave is what a member asks leave for, with the answers that can be given. */
export function Leave({ question: q, mayAnswer, onAnswer }: { question: Question; mayAnswer: boolean; onAnswer: (choice: string) => void }) {
  return (
    <div class="question" role="group" aria-label={t.questionOf(q.member)}>
      <p>{t.asksLeave(q.member)}</p>
      <p><code>{q.title || t.toolCall}</code> <span class="tag">{q.kind}</span></p>
      <div class="choices">
        {mayAnswer ? q.choices.map((c) => <button key={c} type="button" class={c === "once" ? "primary" : ""} onClick={() => onAnswer(c)}>{t.choices[c] ?? c}</button>) : <span class="hint">{t.adminAnswers}</span>}
      </div>
    </div>
  );
}

/** parked are the newest questions of members that wait for a person's words. */
export function parked(entries: Entry[]): Entry[] {
  const settled = new Set<string>(); // tasks whose answer has come to something
  const heard = new Set<string>(); // exchanges in which a member has answered
  const found = new Map<string, Entry>();
  for (let i = entries.length - 1; i >= 0; i--) {
    const e = entries[i];
    if (e.kind === "agent" && !e.failed && e.exchange) heard.add(e.exchange);
    if (!e.task) continue;
    if (e.kind === "person") {
      if (heard.has(e.exchange ?? "")) settled.add(e.task);
    } else if (!settled.has(e.task) && !found.has(e.author)) found.set(e.author, e);
  }
  return [...found.values()].reverse();
}

/** Pause is a member that has asked something and waits for the answer. */
export function Pause({ entry, onAnswer }: { entry: Entry; onAnswer: (text: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form class="question" aria-label={t.questionOf(entry.author)} onSubmit={(e) => (e.preventDefault(), text.trim() && (setText(""), onAnswer(text.trim())))}>
      <p>{t.waits(entry.author)}</p>
      <div class="choices">
        <input aria-label={t.answerTo(entry.author)} value={text} onInput={(e) => setText(e.currentTarget.value)} />
        <button type="submit" class="primary" disabled={!text.trim()}>{t.answer}</button>
      </div>
    </form>
  );
}
