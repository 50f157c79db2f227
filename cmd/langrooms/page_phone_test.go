package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/langrooms/langrooms/internal/clitest"
)

// On a phone everything is there, in either theme: nothing lies beside the screen, what is touched is large enough, a
// key on glass makes a new line and does not send, and a conversation that was chosen closes the list.
func TestConsolePhone(t *testing.T) {
	f := binary.In(t)
	m := clitest.NewModel(t, func(clitest.Question) clitest.Answer {
		return clitest.Say(rich + "\n\n| " + wide + " | " + wide + " |\n| --- | --- |\n| 1 | 2 |")
	})
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("writer", m.URL))
	s := serve(t, f)
	b := browse(t, "about:blank")
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.goTo(s.url + "/")
	a := newAxe(t, b)
	fits := func(view string) {
		t.Helper()
		a.check(view)
		if over := eval[string](b, `[...document.querySelectorAll("main *, dialog[open] *, .frame.open .rail *")].filter((e) => !e.closest(".scroll, pre, .sr, [hidden]") && e.getClientRects().length && getComputedStyle(e).visibility === "visible" && (e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)).map((e) => e.outerHTML.slice(0, 100)).join("\n")`); over != "" {
			t.Errorf("%s: beside the screen: %s", view, over)
		}
	}
	b.until("no agents", `find.all("checkbox", null).length === 4`)
	fits("new chat")
	b.types("textbox", "Message", "@")
	b.sees("listbox", "Mentions")
	fits("mentions")
	b.fills("textbox", "Message", "@writer write")
	b.do(key("\x1b"), key("\r"))
	b.until("Enter sends", `find.one("textbox", "Message").value === "@writer write\n"`)
	b.click("button", "Send")
	b.says("writer", "A title")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	fits("thread")
	b.menu("writer", 0, "")
	fits("a message's menu")
	b.click("menuitem", "Show cost and time")
	b.click("button", "More")
	fits("a conversation's menu")
	b.click("menuitem", "Costs")
	fits("costs")
	b.click("button", "Close")
	b.click("button", "Show conversations")
	fits("the conversations")
	b.click("link", "Settings")
	b.sees("form", "Room")
	b.until("the list stays", `!document.querySelector(".frame.open")`)
	fits("settings")
	b.click("button", "Show conversations")
	b.click("link", "Roster")
	b.sees("button", "Probe proto")
	fits("roster")
	b.click("button", "Add delegate")
	b.until("no types", `find.one("combobox", "Type")?.options.length === 3`)
	fits("a new delegate")
	s.end(t)
}

const wide = "a-word-that-is-wider-than-the-screen-of-any-phone-there-ever-was"
