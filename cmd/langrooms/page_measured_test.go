package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/findinpage"
	"github.com/chromedp/chromedp"
)

// The page is as quick as a person expects: the list of mentions is there with the keystroke, all
// of 10,000 messages can be found, and a reply streams in while frames come one after the other.
func TestConsoleQuick(t *testing.T) {
	f := binary.In(t)
	stream := httptest.NewServer(http.HandlerFunc(streaming))
	t.Cleanup(stream.Close)
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("stream", stream.URL+"/v1"))
	s := serve(t, f)
	s.long(t, 10_000)
	b := browse(t, s.url+"/")
	b.until("no agents", `find.all("checkbox", null).length === 4`)
	keystroke := b.keystrokes(7)
	began := time.Now()
	eval[bool](b, `(location.hash = "#/thread/long", true)`)
	b.until("no long thread", `[...document.querySelectorAll("article")].at(-1)?.innerText.includes("message 9999")`)
	loaded := time.Since(began)
	b.until("not all messages are there", `document.querySelectorAll("article").length === 10000`)
	found := time.Since(began)
	within := b.keystrokes(7)
	stop := b.trace()
	// Roles are not asked for meanwhile: in a page of this size that takes the browser seconds.
	b.do(key("@stream go"), key("\r"))
	b.until("no end", `[...document.querySelectorAll("article[aria-label=stream]:not([aria-busy])")].some((e) => e.innerText.includes("word 399"))`)
	frames := stop()
	t.Logf("keystroke to list, median of 7: %.0f ms, in the long thread %.0f ms; 10,000 messages open in %v and are whole in %v; %v", keystroke, within, loaded.Round(time.Millisecond), found.Round(time.Millisecond), frames)
	if max(keystroke, within) > 1000 || loaded > 20*time.Second { // far from what a quiet machine does, so that only a fault fails
		t.Errorf("keystroke to list %.0f ms; 10,000 messages open in %v", keystroke, loaded)
	}
	s.end(t)
}

// long makes the thread "long" of n messages.
func (s *served) long(t testing.TB, n int) {
	t.Helper()
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"type":"%s","content":"message %d of **many**"}`, []string{"human", "ai"}[i%2], i))
	}
	s.ask(t, "POST", "/threads", `{"thread_id":"long"}`)
	code, body := s.ask(t, "POST", "/threads/long/state", `{"values":{"messages":[`+strings.Join(all, ",")+`]}}`)
	expect(t, "a long thread "+body[:min(len(body), 200)], 200, code)
}

// keystrokes is the median of n times from the key to the frame that shows the list of
// mentions, in ms.
func (b *browser) keystrokes(n int) float64 {
	b.t.Helper()
	b.sees("textbox", "Message")
	eval[bool](b, `(() => { const a = document.querySelector("textarea"); a.focus(); window.took = []; let typed = 0;
  a.addEventListener("keydown", (e) => { if (e.key === "@") typed = performance.now(); }, true);
  new MutationObserver(() => { if (typed && document.querySelector("[role=listbox]")) { const from = typed; typed = 0; requestAnimationFrame(() => took.push(performance.now() - from)); } }).observe(document.body, { childList: true, subtree: true }); return true; })()`)
	for i := range n {
		b.do(key("@"))
		b.until("no list", fmt.Sprintf("window.took.length === %d", i+1))
		b.do(key("\b"))
		b.until("the list stays", `!document.querySelector("[role=listbox]")`)
	}
	return eval[float64](b, `took.sort((a, b) => a - b)[took.length >> 1]`)
}

// In a long thread what is looked at stays in its place, and everything can be found.
func TestConsoleLong(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	s.long(t, 2_000)
	b := browse(t, s.url+"/#/thread/long")
	b.until("not all messages are there", `document.querySelectorAll("article").length === 2000`)
	expect(t, "is at the newest", true, eval[bool](b, `(() => { const l = document.querySelector("[role=log]"); return l.scrollHeight - l.scrollTop - l.clientHeight < 2; })()`))
	if whole := eval[int](b, `document.querySelectorAll("article header").length`); whole > 300 {
		t.Errorf("%d messages are in the page with all that belongs to them", whole)
	}
	place := `(() => { const l = document.querySelector("[role=log]").getBoundingClientRect(); const a = document.elementFromPoint(l.left + l.width / 2, l.top + 100)?.closest("article"); return a ? a.innerText.match(/message \d+ of/)?.[0] + " " + Math.round(a.getBoundingClientRect().top) : ""; })()`
	settled := `(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))))()`
	for _, at := range []string{"0.5", "0.49", "0.1", "0"} {
		eval[bool](b, `(document.querySelector("[role=log]").scrollTop = document.querySelector("[role=log]").scrollHeight * `+at+`, true)`)
		b.until("nothing there at "+at, `(() => { const l = document.querySelector("[role=log]").getBoundingClientRect(); return document.elementFromPoint(l.left + l.width / 2, l.top + 100)?.closest("article")?.querySelector("header"); })()`)
		eval[bool](b, settled)
		before := eval[string](b, place)
		code, body := s.ask(t, "POST", "/threads/long/state", `{"values":{"messages":[{"type":"ai","content":"news at `+at+`"}]}}`)
		expect(t, "a new message: "+body, 200, code)
		b.until("no news", `document.querySelector("[role=log]").textContent.includes("news at `+at+`")`)
		eval[bool](b, settled)
		expect(t, "what is looked at, at "+at, before, eval[string](b, place))
	}
	b.click("button", "↓ Jump to newest")
	b.until("not at the newest", `(() => { const l = document.querySelector("[role=log]"); return l.scrollHeight - l.scrollTop - l.clientHeight < 2 && [...document.querySelectorAll("article")].at(-1).innerText.includes("news at 0"); })()`)
	if _, err := chromedp.Call(b.ctx, findinpage.FindFirst, findinpage.FindFirstParams{Query: "message 777 of"}); err != nil {
		t.Fatal(err)
	}
	b.until("what is found is not in sight", `(() => { const l = document.querySelector("[role=log]").getBoundingClientRect(); const a = [...document.querySelectorAll("article")].find((e) => e.textContent.includes("message 777 of")).getBoundingClientRect(); return a.top >= l.top - 5 && a.bottom <= l.bottom + 5; })()`)
	for range 20 { // the browser makes the tree when it has the time
		if articles, said := heard(b, "message 40 of"); said == 1 && articles == eval[int](b, `document.querySelectorAll("article").length`) {
			s.end(t)
			return
		}
	}
	t.Error("a screen reader does not find every message")
}

// heard is how many messages a screen reader finds, and how many say something.
func heard(b *browser, text string) (articles, said int) {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || n.Name == nil {
			continue
		}
		switch role := string(n.Role.Value); {
		case role == `"article"`:
			articles++
		case role == `"StaticText"` && strings.Contains(string(n.Name.Value), text):
			said++
		}
	}
	return articles, said
}

// Who scrolls up while a reply streams in stays there, however little it was; who sends a message
// is with it.
func TestConsoleScrolling(t *testing.T) {
	f := binary.In(t)
	stream := httptest.NewServer(http.HandlerFunc(streaming))
	t.Cleanup(stream.Close)
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("stream", stream.URL+"/v1"))
	s := serve(t, f)
	s.long(t, 200)
	b := browse(t, s.url+"/#/thread/long")
	b.until("not all messages are there", `document.querySelectorAll("article").length === 200`)
	const below = `(() => { const l = document.querySelector("[role=log]"); return Math.round(l.scrollHeight - l.scrollTop - l.clientHeight); })()`
	b.say("@stream go")
	b.until("it is not followed", `document.querySelector("[aria-busy=true]")?.innerText.includes("word 50 ") && `+below+` < 2`)
	eval[bool](b, `(document.querySelector("[role=log]").scrollTop -= 30, true)`)
	b.until("no way to the newest", `find.one("button", "↓ Jump to newest")`)
	top := eval[float64](b, `document.querySelector("[role=log]").scrollTop`)
	b.until("no end", `[...document.querySelectorAll("article[aria-label=stream]:not([aria-busy])")].some((e) => e.innerText.includes("word 399"))`)
	if now := eval[float64](b, `document.querySelector("[role=log]").scrollTop`); now < top-2 || now > top+2 {
		t.Errorf("who has scrolled up is moved from %v to %v", top, now)
	}
	eval[bool](b, `(document.querySelector("[role=log]").scrollTop = 200, true)`)
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.say("@oracle and you?")
	b.says("oracle", "I am a demo agent")
	b.until("one is not with what one has sent", below+` < 2`)
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
