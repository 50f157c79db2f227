package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// grown has in it what means something else once more of it is there.
const grown = "Plain words, then **bold ones**, `code` and _more_ of it\\. www.fine.example and ada@fine.example, 3 < 4 & 5.\n" +
	"second line of it\n\nA title\n=======\n\n1. one\n2. two\n\n   still two\n3. three\n\n| a | b |\n| --- | --- |\n| 1 | **2** |\n\n" +
	"```go\nfunc main() {}\n```\n\n> quoted\n> on\n\n<b>raw</b> \u202e turned\n\nand *one (more) word, \"quoted\" 'so'?* the end of it all"

// grows says grown in pieces of a few characters, and waits before its end.
type grows struct{ goOn chan struct{} }

func (g grows) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	piece := func(text, end string) {
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":%s}]}\n\n", text, end)
		_ = http.NewResponseController(w).Flush() // who asked may have gone
	}
	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	for rest, n := []rune(grown), 1; len(rest) > 0; n = n%4 + 1 {
		n = min(n, len(rest))
		piece(string(rest[:n]), "null")
		rest = rest[n:]
		<-tick.C
	}
	for i := range 40 {
		piece(fmt.Sprintf(" word%d", i), "null")
		<-tick.C
	}
	select {
	case <-g.goOn:
		piece("", `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	case <-r.Context().Done():
	}
}

// What is shown while a text is written is what is shown when it is whole; words that are added to
// a paragraph leave it where it is.
func TestConsoleGrowing(t *testing.T) {
	f := binary.In(t)
	g := grows{make(chan struct{}, 1)}
	stream := httptest.NewServer(g)
	t.Cleanup(stream.Close)
	f.Config("model: { provider: demo }\ndelegates:\n%s", voiceEntry("writer", stream.URL+"/v1"))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@writer write")
	b.until("no words", `document.querySelector("article[aria-busy] .text > p:last-of-type")?.innerText.includes("word2")`)
	eval[bool](b, `(window.paragraph = document.querySelector("article[aria-busy] .text > p:last-of-type"), true)`)
	b.until("not to its end", `document.querySelector("article[aria-busy] .text")?.innerText.includes("word39")`)
	expect(t, "the paragraph is drawn anew for every word", true, eval[bool](b, `paragraph.isConnected && paragraph.innerText.includes("word39")`))
	live := eval[string](b, `document.querySelector("article[aria-busy] .text").innerHTML`)
	g.goOn <- struct{}{}
	b.says("writer", "word39")
	whole := eval[string](b, `(() => { const e = [...document.querySelectorAll("article[aria-label=writer] .text")].at(-1).cloneNode(true);
  for (const c of e.querySelectorAll(".code")) { c.querySelector("button").remove(); c.querySelector("pre").removeAttribute("tabindex"); const code = c.querySelector("code"); code.textContent = code.textContent; c.replaceWith(c.querySelector("pre")); } return e.innerHTML; })()`)
	expect(t, "what is shown while it is written", whole, live)
	s.end(t)
}
