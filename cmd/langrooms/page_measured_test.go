package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
)

// axe finds nothing serious, in either theme.
func TestConsoleAxe(t *testing.T) {
	axe, err := os.ReadFile("../../console/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("axe-core is not installed: npm ci in console/web")
		}
		t.Skip("axe-core is not installed: npm ci in console/web")
	}
	f := binary.In(t)
	m := clitest.NewModel(t, func(clitest.Question) clitest.Answer {
		return clitest.Say("# A title\n\n> quoted\n\n```go\nfunc main() { println(\"hi\") } // so\n```\n\n| a | b |\n| --- | --- |\n| 1 | `two` |\n\n[a link](https://fine.example)")
	})
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("writer", m.URL))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	eval[bool](b, string(axe)+"; true")
	check := func(view string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			eval[bool](b, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, true)`, theme))
			found := eval[string](b, `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120) + " " + n.failureSummary).join(" | ")).join("\n"))`)
			if found != "" {
				t.Errorf("%s, %s:\n%s", view, theme, found)
			}
		}
	}
	b.until("no agents", `find.all("checkbox", null).length === 4`)
	check("new chat")
	b.types("textbox", "Message", "@")
	b.sees("listbox", "Mentions")
	check("mentions")
	b.fills("textbox", "Message", "@writer @oracle write")
	b.do(key("\x1b"))
	b.click("button", "Send")
	b.says("writer", "A title")
	b.says("oracle", "")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	check("thread")
	b.menu("writer", 0, "")
	check("menu")
	b.do(key("\x1b"))
	b.click("link", "Settings")
	b.sees("form", "Room")
	check("settings")
	b.click("link", "Roster")
	b.sees("button", "Probe proto")
	check("roster")
	b.click("button", "Keyboard shortcuts")
	check("keys")
	b.click("button", "Close")
	eval[bool](b, `dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true })), true`)
	b.sees("combobox", "Type a command or a conversation")
	check("palette")
	s.end(t)
}

// The page is as quick as a person expects: the list of mentions, and a reply that streams into
// a thread of 10,000 messages.
func TestConsoleQuick(t *testing.T) {
	f := binary.In(t)
	stream := httptest.NewServer(http.HandlerFunc(streaming))
	t.Cleanup(stream.Close)
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("stream", stream.URL+"/v1"))
	s := serve(t, f)
	var all []string
	for i := range 10_000 {
		all = append(all, fmt.Sprintf(`{"type":"%s","content":"message %d of **many**"}`, []string{"human", "ai"}[i%2], i))
	}
	s.ask(t, "POST", "/threads", `{"thread_id":"long"}`)
	code, body := s.ask(t, "POST", "/threads/long/state", `{"values":{"messages":[`+strings.Join(all, ",")+`]}}`)
	expect(t, "a long thread "+body[:min(len(body), 200)], 200, code)
	b := browse(t, s.url+"/")
	b.sees("textbox", "Message")
	eval[bool](b, `(() => { const a = document.querySelector("textarea"); a.focus(); a.addEventListener("input", () => { window.typed = performance.now(); });
  new MutationObserver(() => { if (!window.listed && document.querySelector("[role=listbox]")) window.listed = performance.now(); }).observe(document.body, { childList: true, subtree: true }); return true; })()`)
	b.do(key("@"))
	b.sees("listbox", "Mentions")
	ms := eval[float64](b, "window.listed - window.typed")
	b.fills("textbox", "Message", " ")
	began := time.Now()
	eval[bool](b, `(location.hash = "#/thread/long", true)`)
	b.until("no long thread", `[...document.querySelectorAll("article")].at(-1)?.innerText.includes("message 9999")`)
	loaded := time.Since(began)
	expect(t, "messages in the page", 120, eval[int](b, `document.querySelectorAll("article").length`))
	// Frames are counted from the first word on. Roles are not asked for meanwhile: in a page of
	// this size that takes the browser seconds.
	eval[bool](b, `(() => { window.gaps = []; let last = 0; const tick = (now) => { if (document.querySelector("[aria-busy]")?.innerText.includes("word")) { if (last) gaps.push(now - last); last = now; } requestAnimationFrame(tick); };
  requestAnimationFrame(tick); document.querySelector("textarea").focus(); return true; })()`)
	b.do(key("@stream go"), key("\r"))
	b.until("no end", `[...document.querySelectorAll("article[aria-label=stream]:not([aria-busy])")].some((e) => e.innerText.includes("word 399"))`)
	frames := eval[string](b, `(() => { const g = gaps.sort((a, b) => a - b); return "median " + g[g.length >> 1].toFixed(1) + " ms, 95 % " + g[Math.floor(g.length * 0.95)].toFixed(1) + " ms, longest " + g.at(-1).toFixed(0) + " ms of " + g.length + " frames"; })()`)
	t.Logf("keystroke to list %.0f ms; 10,000 messages open in %v; frames while 400 words stream in: %s", ms, loaded.Round(time.Millisecond), frames)
	if ms > 1000 || loaded > 20*time.Second { // far from what a quiet machine does, so that only a fault fails
		t.Errorf("keystroke to list %.0f ms; 10,000 messages open in %v", ms, loaded)
	}
	s.end(t)
}

// streaming says 400 words, one after the other.
func streaming(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range 400 {
		end := "null"
		if i == 399 {
			end = `"stop"`
		}
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"word %d \"},\"finish_reason\":%s}]}\n\n", i, end)
		_ = http.NewResponseController(w).Flush() // who asked may have gone
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
