package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/langrooms/langrooms/internal/clitest"
)

// axe looks at a page in both themes and finds nothing serious.
type axe struct {
	*browser
	script string
}

func newAxe(t testing.TB, b *browser) axe {
	t.Helper()
	script, err := os.ReadFile("../../console/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("axe-core is not installed: npm ci in console/web")
		}
		t.Skip("axe-core is not installed: npm ci in console/web")
	}
	return axe{b, string(script)}
}

func (a axe) check(view string) {
	a.t.Helper()
	if !eval[bool](a.browser, `"axe" in window`) { // a page that was loaded anew has it no more
		eval[bool](a.browser, a.script+"; true")
	}
	for _, theme := range []string{"light", "dark"} {
		eval[bool](a.browser, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, true)`, theme))
		found := eval[string](a.browser, `axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120) + " " + n.failureSummary).join(" | ")).join("\n"))`)
		if found != "" {
			a.t.Errorf("%s, %s:\n%s", view, theme, found)
		}
	}
}

// rich is a text with all that a message may have in it.
const rich = "# A title\n\n> quoted\n\n```go\nfunc main() { println(\"hi\") } // so\n```\n\n| a | b |\n| --- | --- |\n| 1 | `two` |\n\n- [x] done\n- [ ] not\n\n[a link](https://fine.example)"

// axe finds nothing serious, in either theme: conversations, settings and what lies over them.
func TestConsoleAxe(t *testing.T) {
	f := binary.In(t)
	m := clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Say(rich) })
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("writer", m.URL))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	a := newAxe(t, b)
	b.until("no agents", `find.all("checkbox", null).length === 4`)
	a.check("new chat")
	b.types("textbox", "Message", "@")
	b.sees("listbox", "Mentions")
	a.check("mentions")
	b.fills("textbox", "Message", "@writer @oracle write")
	b.do(key("\x1b"))
	b.click("button", "Send")
	b.says("writer", "A title")
	b.says("oracle", "")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	a.check("thread")
	b.menu("writer", 0, "")
	a.check("menu")
	b.do(key("\x1b"))
	b.click("link", "Settings")
	b.sees("form", "Room")
	a.check("settings")
	b.click("link", "Roster")
	b.sees("button", "Probe proto")
	a.check("roster")
	b.click("button", "Add delegate")
	b.until("no types", `find.one("combobox", "Type")?.options.length === 3`)
	eval[bool](b, `(document.querySelector("dialog details").open = true)`)
	a.check("a new delegate")
	b.click("button", "Cancel")
	b.click("button", "Keyboard shortcuts")
	a.check("keys")
	b.click("button", "Close")
	eval[bool](b, `dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true })), true`)
	b.sees("combobox", "Type a command or a conversation")
	a.check("palette")
	s.end(t)
}

// Nor at the sign-in, in a shared session while members work and when it is closed, at a
// question, on a phone, and where nothing is.
func TestConsoleAxeSession(t *testing.T) {
	f := binary.In(t)
	slow := newSlowly(t, "thinking **aloud** ", "and done")
	f.Config("model: { provider: demo }\nserver:\n  keys:\n    - { name: ada, key: planted-ada, admin: true }\n%s%s%s", demoRoster, voiceEntry("slow", slow.url), strings.Replace(asking(t), "proto", "asker", 1))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	a := newAxe(t, b)
	b.types("textbox", "Key", "wrong")
	b.click("button", "Sign in")
	b.until("no fault", `find.all("alert", null).length > 0`)
	a.check("sign-in")
	b.fills("textbox", "Key", "planted-ada")
	b.click("button", "Sign in")
	b.until("no agents to pick", `find.all("checkbox", null).length === 5`)
	eval[bool](b, `[...document.querySelectorAll(".card input")].filter((i) => /oracle|slow/.test(i.parentElement.innerText)).map((i) => i.click()).length === 2`)
	b.say("Release notes")
	b.until("no session", `location.hash.startsWith("#/room/")`)
	b.say("what do you think, @slow?")
	b.until("no live text", `find.all("article", "slow").some((e) => e.innerText.includes("thinking aloud"))`)
	a.check("a session at work")
	b.do(chromedp.EmulateViewport(390, 844))
	a.check("a phone")
	b.click("button", "Show conversations")
	a.check("a phone's conversations")
	b.click("button", "Show conversations")
	b.do(chromedp.EmulateViewport(1280, 800))
	slow.goOn <- struct{}{}
	b.says("slow", "and done")
	b.click("button", "More")
	b.click("menuitem", "Close session")
	a.check("a dialog")
	b.click("button", "Close session")
	b.until("it is not closed", `!find.one("textbox", "Message")`)
	a.check("a closed session")
	eval[bool](b, `(() => { for (const on of ["person", "note", "agent live"]) for (let i = 0; i < 24; i++) { const e = document.querySelector("article").cloneNode(true); e.className = "message " + on;
  e.querySelector(".name").className = "name hue-" + i; document.querySelector("[role=log] > div").append(e); } return true; })()`)
	a.check("names of every colour on every ground")
	b.click("button", "New chat")
	b.say("@asker repair it")
	b.sees("group", "Question of asker")
	a.check("a question")
	b.click("button", "Refuse")
	b.goTo(s.url + "/sessions/room_0123456789abcdef")
	b.until("nothing is said", `find.all("alert", null).length > 0`)
	a.check("nothing there")
	s.end(t)
}
