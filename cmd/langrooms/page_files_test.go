package main

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// give pastes or drops a file onto the composer; content is an expression of the page.
func (b *browser) give(event, of, name, typ, content string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%s], %q, { type: %q }));
  document.querySelector("textarea").dispatchEvent(new %s(%q, { bubbles: true, cancelable: true, clipboardData: d, dataTransfer: d })); return true; })()`, content, name, typ, of, event))
}

// Files that are pasted or dropped go with the message and are there after a reload: pictures to be seen, others to be
// saved. What is too large is refused.
func TestConsoleFiles(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	png, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-t", "cli", "-m", "@oracle look", "-a", f.Write("chart.png", string(png))).Status)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.sees("textbox", "Message")
	const picture = `Uint8Array.from(atob("` + dot + `"), (c) => c.charCodeAt(0))`
	b.give("drop", "DragEvent", "large.bin", "", "new Uint8Array(6 << 20)")
	b.until("what is too large is taken", `find.all("alert", null).some((e) => e.innerText.includes("large.bin is larger than 5120 KB"))`)
	b.give("paste", "ClipboardEvent", "one.png", "image/png", picture)
	b.until("nothing was pasted", `document.querySelectorAll(".pictures img").length === 1`)
	b.give("drop", "DragEvent", "two.png", "image/png", picture)
	b.until("nothing was dropped", `document.querySelectorAll(".pictures img").length === 2`)
	b.give("drop", "DragEvent", "<b>notes</b>.txt", "text/plain", `"a log\n<b>"`)
	b.click("button", "Remove two.png")
	eval[bool](b, `(() => { const d = new DataTransfer(); d.items.add(new File(["x"], "chosen.txt", { type: "text/plain" }));
  const i = document.querySelector("input[type=file]"); i.files = d.files; return i.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	b.sees("button", "Attach files")
	b.click("button", "Remove chosen.txt")
	b.say("@oracle what is this?")
	b.says("oracle", "I am a demo agent")
	const shown = `find.all("article", "operator").some((e) => e.querySelector("img")?.src.startsWith("data:image/png;base64,iVBOR") && e.querySelector("img").naturalWidth === 1 && e.querySelectorAll("img").length === 1) && document.querySelector("article a.file")?.download.endsWith(".txt")`
	b.until("the files are not in the message", shown)
	b.do(chromedpReload())
	b.until("the files are gone after a reload", shown)
	expect(t, "what is left in the composer", 0, eval[int](b, `document.querySelectorAll(".composer .pictures").length`))
	expect(t, "the file", "a log\n<b>", eval[string](b, `fetch(document.querySelector("article a.file").href).then((r) => r.text())`))
	expect(t, "what a name has made", 0, eval[int](b, `document.querySelectorAll("article b").length`))
	b.goTo(s.url + "/#/thread/cli")
	b.until("the picture of a terminal is not shown", `find.all("article", "operator").some((e) => e.querySelector("img")?.naturalWidth === 1)`)
	s.end(t)
}

// In a shared session a file of text goes into the words, fenced so that nothing in it ends it; another one is refused.
func TestConsoleTextFiles(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	code, body := s.ask(t, "POST", "/api/rooms", `{"name":"logs","agents":["oracle"]}`)
	expect(t, "a session: "+body, 200, code)
	b := browse(t, s.url+"/sessions/"+between(body, `"id":"`, `"`))
	b.sees("textbox", "Message")
	b.give("drop", "DragEvent", "core", "", "new Uint8Array(20)")
	b.until("what is no text is taken", `find.all("alert", null).some((e) => e.innerText.includes("core is no text"))`)
	b.give("drop", "DragEvent", "notes.txt", "text/plain", fmt.Sprintf("%q", "a log\n```\n<b>"))
	b.sees("button", "Remove notes.txt")
	b.say("look")
	b.says("operator", "look\n\nnotes.txt:\n\n````\na log\n```\n<b>\n````")
	s.end(t)
}
