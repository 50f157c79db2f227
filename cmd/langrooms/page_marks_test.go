package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// Members of a round that are asked at once stand side by side; one is stopped and the other goes on,
// and what the first had written stays and is marked.
func TestConsoleSideBySide(t *testing.T) {
	f := binary.In(t)
	left, right := newSlowly(t, "the left half ", "and the rest of it"), newSlowly(t, "the right half ", "and all that follows")
	f.Config("model: { provider: demo }\nroom: { parallel: first, max_rounds: 1 }\ndelegates:\n%s%s", voiceEntry("left", left.url), voiceEntry("right", right.url))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	a := newAxe(t, b)
	b.say("@left @right go")
	b.until("not side by side", `document.querySelectorAll(".side article").length === 2 && ["left", "right"].every((n) => find.one("article", n)?.innerText.includes("the " + n + " half"))`)
	expect(t, "beside each other", true, eval[bool](b, `(() => { const [l, r] = [...document.querySelectorAll(".side article")].map((e) => e.getBoundingClientRect()); return l.top === r.top && l.right <= r.left; })()`))
	a.check("side by side")
	right.goOn <- struct{}{}
	b.until("the second does not go on while the first works", `find.one("article", "right")?.innerText.includes("and all that follows")`)
	b.click("button", "Stop left")
	b.says("right", "and all that follows")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.until("what was cut is not marked", `/incomplete/.test(find.one("article", "left").querySelector("header").innerText) && find.one("article", "left").innerText.includes("the left half")`)
	expect(t, "the order", "operator,left,right", eval[string](b, `[...document.querySelectorAll("article")].slice(0, 3).map((e) => e.getAttribute("aria-label")).join()`))
	s.end(t)
}

// Of a member at work its plan, its tools, its thoughts and its words so far are shown, all of them as text, after a
// reload too.
func TestConsoleAtWork(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\ndelegates:\n%s", acpEntry(t, "coder", "plans"))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	a := newAxe(t, b)
	b.say("@coder mend it")
	at := func() {
		t.Helper()
		b.until("its words are not shown", `find.one("article", "coder")?.innerText.includes("working on it")`)
		b.until("its tools are not shown", `/go vet .\/\.\.\.\s+in progress/.test(document.querySelector("ul[aria-label=Tools]")?.innerText)`)
		b.until("its plan is not shown", `/look <b>about<\/b>[^]*mend it/.test(document.querySelector("ul[aria-label=Plan]")?.innerText)`)
		b.until("its thoughts are not at hand", `document.querySelector("article details")?.textContent.includes("it may be the order")`)
	}
	at()
	a.check("a member at work")
	b.do(chromedpReload())
	at()
	b.click("button", "Stop coder")
	b.until("it goes on", `!find.one("button", "Stop") && !document.querySelector("[aria-busy]")`)
	s.end(t)
}

// Rounds, failures, late answers, what is off the record and the room's notes are told apart, and what is off the
// record is in no export.
func TestConsoleMarks(t *testing.T) {
	f, _, letGo := slowFolder(t, says(t, "I have read it."), "room: { max_rounds: 2 }\n")
	p := f.Start("chat", "--json", "--incognito", "-t", "secret")
	p.Say("@slow do it")
	p.Lines(1, "done")
	letGo()
	p.Lines(1, "message")
	p.CloseInput()
	p.Wait()
	again := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		if strings.Contains(q.Body, "nonsense") {
			return clitest.Say("pass")
		}
		return clitest.Say("I am of two rounds")
	})
	f.Config("model: { provider: demo }\nroom: { max_rounds: 2 }\n%s", roster(openaiEntry("one", again), openaiEntry("two", again), openaiEntry("gone", again)))
	s := serve(t, f)
	b := browse(t, s.url+"/#/thread/secret")
	tags := func(n int) string {
		return eval[string](b, `[...document.querySelectorAll("article[aria-label=slow]")]`+"["+string(rune('0'+n))+`].innerText.split("\n").filter((l) => /^(failed|late|incognito|still running when its turn ended)$/.test(l)).join()`)
	}
	b.until("no late answer", `find.all("article", "slow").length === 2 && find.all("article", "slow")[1].innerText.includes("the late answer")`)
	expect(t, "of the failure", "failed,still running when its turn ended,incognito", tags(0))
	expect(t, "of the late answer", "late,incognito", tags(1))
	eval[bool](b, `(URL.createObjectURL = (blob) => { blob.text().then((t) => { window.exported = t; }); return "blob:none"; }, true)`)
	b.click("button", "More")
	b.click("menuitem", "Export")
	b.until("not exported", `window.exported !== undefined`)
	expect(t, "what is off the record in an export", false, eval[bool](b, `/do it|the late answer/.test(window.exported)`))
	b.menu("slow", 1, "")
	expect(t, "an export of it alone", 0, b.count("menuitem", "Export"))
	b.click("button", "New chat")
	b.say("@one @two go on")
	b.until("no second round", `[...document.querySelectorAll(".round")].map((e) => e.innerText).join() === "Round 2"`)
	b.says("room", "cap")
	expect(t, "notes apart", true, eval[bool](b, `[...document.querySelectorAll("article.note")].every((e) => e.getAttribute("aria-label") === "room" && /note/.test(e.innerText) && !e.querySelector(".avatar"))`))
	expect(t, "colours and initials of two names", true, eval[bool](b, `(() => { const of = (n) => document.querySelector("article[aria-label=" + n + "] .avatar"); return of("one").innerText === "ON" && of("two").innerText === "TW" && getComputedStyle(of("one")).backgroundColor !== getComputedStyle(of("two")).backgroundColor; })()`))
	s.end(t)
}
