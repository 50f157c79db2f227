package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/langrooms/langrooms/internal/clitest"
)

// Two people in browsers of their own and one at a terminal are on one thread: all of them see
// the same in the same order, and nobody's draft is disturbed.
func TestConsoleTogether(t *testing.T) {
	m := clitest.NewModel(t, func(q clitest.Question) clitest.Answer { return clitest.Say("heard: " + q.Last()) })
	f := binary.In(t)
	f.Config("model: { provider: demo }\ndelegates:\n%s", voiceEntry("echo", m.URL))
	s := serve(t, f)
	ada, bob := browse(t, s.url+"/"), browse(t, s.url+"/")
	ada.say("@echo one from ada")
	ada.says("echo", "one from ada")
	thread := strings.TrimPrefix(eval[string](ada, "location.hash"), "#/thread/")
	bob.goTo(s.url + "/#/thread/" + thread)
	bob.says("echo", "one from ada")
	terminal := newScreen(t, f, "chat -t "+thread)
	terminal.until("›")
	ada.types("textbox", "Message", "what ada has not sent")
	bob.say("@echo two from bob")
	bob.says("echo", "two from bob")
	terminal.until("two from bob")
	terminal.keys("@echo three from the terminal", "Enter")
	terminal.until("heard: ")
	ada.says("echo", "three from the terminal")
	bob.types("textbox", "Message", "what bob has not sent")
	ada.fills("textbox", "Message", "@echo four from ada")
	ada.click("button", "Send")
	for _, b := range []*browser{ada, bob} {
		b.says("echo", "four from ada")
		b.until("the turn goes on", `!find.one("button", "Stop")`)
	}
	const said = `[...document.querySelectorAll("article")].map((a) => a.getAttribute("aria-label") + ": " + a.querySelector(".text").innerText).join("\n")`
	order := eval[string](ada, said)
	expect(t, "both windows", order, eval[string](bob, said))
	var numbers []string
	for _, line := range voices(show(t, f, thread)) {
		numbers = append(numbers, line[strings.LastIndex(line, " from ")+1:])
	}
	var here []string
	for line := range strings.SplitSeq(order, "\n") {
		here = append(here, line[strings.LastIndex(line, " from ")+1:])
	}
	expect(t, "the store's order", numbers, here)
	expect(t, "a draft in one window", "what bob has not sent", bob.value("textbox", "Message"))
	expect(t, "a draft in the other", "", ada.value("textbox", "Message"))
	terminal.keys("C-d")
	terminal.until("the status is 0")
	s.end(t)
}

// The composer as a person uses it: an input method, pasting, drafts, quoting, copying, and a
// message that could not be sent.
func TestConsoleComposer(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.sees("textbox", "Message")
	b.until("no agents", `find.all("checkbox", null).length === 3`)
	eval[bool](b, `(document.querySelector("textarea").focus(), true)`)
	if _, err := chromedp.Call(b.ctx, input.ImeSetComposition, input.ImeSetCompositionParams{Text: "にほん", SelectionStart: 3, SelectionEnd: 3}); err != nil {
		t.Fatal(err)
	}
	eval[bool](b, `document.querySelector("textarea").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }))`)
	expect(t, "Enter of an input method", "にほん", b.value("textbox", "Message"))
	expect(t, "a conversation that it began", "", eval[string](b, "location.hash"))
	b.fills("textbox", "Message", "@")
	b.sees("listbox", "Mentions")
	expect(t, "offers", []string{"proto", "reviewer", "oracle"}, strings.Split(eval[string](b, `[...document.querySelectorAll("[role=option] bdi")].map((e) => e.innerText).join()`), ","))
	b.do(key("o"))
	b.until("not by beginning, then by what stands in it", `[...document.querySelectorAll("[role=option] bdi")].map((e) => e.innerText).join() === "oracle,proto"`)
	b.do(key(kb.ArrowDown))
	b.until("the second is not chosen", `document.querySelector("[role=option][aria-selected=true] bdi")?.innerText === "proto"`)
	b.do(key("\x1b"))
	b.until("Esc leaves the list", `!find.one("listbox", "Mentions")`)
	eval[bool](b, `(() => { const a = document.querySelector("textarea"); a.value = "@ora"; a.setSelectionRange(4, 4); return a.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true })); })()`)
	b.until("nobody is named", `document.querySelector("#hears").innerText.includes("@ora is nobody on the roster.")`)
	expect(t, "the list after pasting", 0, b.count("listbox", "Mentions"))
	b.fills("textbox", "Message", "@oracle @reviewer together")
	b.until("no chips", `[...document.querySelectorAll(".chip")].map((e) => e.innerText.split("\n").pop()).join() === "oracle,reviewer"`)
	b.until("not told who hears it", `document.querySelector("#hears").innerText === "Goes to oracle and reviewer, in this order."`)

	b.fills("textbox", "Message", "@oracle hello")
	b.click("button", "Send")
	b.says("oracle", "I am a demo agent")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	eval[bool](b, `(Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (t) => { window.copied = t; } } }), true)`)
	b.menu("oracle", 0, "Copy")
	b.until("not copied", `window.copied?.includes("I am a demo agent")`)
	eval[bool](b, `(Object.defineProperty(navigator, "clipboard", { value: undefined }), document.execCommand = () => { window.copied = "without: " + getSelection(); }, true)`)
	b.menu("oracle", 0, "Copy")
	b.until("not copied where the page is of no secure origin", `window.copied?.startsWith("without: I have been shown nothing")`)
	b.menu("operator", 0, "Quote")
	expect(t, "a quote", "> @oracle hello\n\n", b.value("textbox", "Message"))
	b.click("button", "More")
	b.click("menuitem", "Rename")
	b.fills("textbox", "Title", "Needles <b>& haystacks")
	b.click("button", "OK")
	b.until("no other name", `document.querySelector("h1").innerText === "Needles <b>& haystacks" && document.querySelector(".row bdi").innerText === "Needles <b>& haystacks"`)
	eval[bool](b, `(URL.createObjectURL = (blob) => { blob.text().then((t) => { window.exported = t; }); return "blob:none"; }, true)`)
	b.click("button", "More")
	b.click("menuitem", "Export")
	b.until("not exported", `window.exported?.startsWith("# Needles <b>& haystacks") && window.exported.includes("**oracle**")`)

	b.fills("textbox", "Message", "a draft")
	here := eval[string](b, "location.href")
	b.click("button", "New chat")
	b.until("a draft of another conversation", `find.one("textbox", "Message")?.value === ""`)
	b.goTo(here)
	b.until("the draft is gone", `find.one("textbox", "Message")?.value === "a draft"`)
	b.says("oracle", "I am a demo agent")
	s.end(t)
	b.click("button", "Send")
	b.until("the message is lost", `find.one("textbox", "Message")?.value === "a draft" && find.all("alert", null).length > 0`)
}

// What is unread, and who is named, is told in the rail; names of sessions are text; members,
// budget and costs are in their headers.
func TestConsoleUnread(t *testing.T) {
	m := clitest.NewModel(t, func(q clitest.Question) clitest.Answer { return clitest.Say("please look, @operator") })
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("caller", m.URL))
	s := serve(t, f)
	hostile := `<img src=x onerror=window.pwned=1> ` + "\u202e" + `gnp.exe`
	code, body := s.ask(t, "POST", "/api/rooms", fmt.Sprintf(`{"name":%q,"topic":"<script>window.pwned=2</script>","agents":["oracle","caller"],"max_messages":5}`, hostile))
	expect(t, "a session: "+body, 200, code)
	id := between(body, `"id":"`, `"`)
	b := browse(t, s.url+"/")
	b.until("no session in the rail", `document.querySelector(".row bdi")?.innerText.includes("onerror")`)
	post := func(text string) {
		code, body := s.ask(t, "POST", "/api/rooms/"+id+"/messages", fmt.Sprintf(`{"content":%q}`, text))
		if code >= 300 {
			t.Fatalf("%d %s", code, body)
		}
	}
	post("@oracle what do you think?")
	b.until("no count", `/unread/.test(document.querySelector(".badge")?.getAttribute("aria-label"))`)
	post("@caller call me")
	b.until("no mention", `document.querySelector(".badge")?.getAttribute("aria-label") === "1 mention of you" && document.querySelector(".badge").innerText === "@1"`)
	eval[bool](b, `document.querySelector(".row a").click(), true`)
	b.says("caller", "please look")
	b.until("no budget", `find.all("status", null).some((e) => e.innerText.includes("% of the budget is used"))`)
	b.until("it is still unread", `!document.querySelector(".badge")`)
	expect(t, "what ran", 0, eval[int](b, `Number(window.pwned ?? 0)`))
	expect(t, "elements of names", 0, eval[int](b, `document.querySelectorAll("img, h1 *, .titles script").length`))
	expect(t, "members", "operator, moderator|oracle, member|caller, member", eval[string](b, `[...document.querySelectorAll(".members .sr")].map((e) => e.innerText).join("|")`))
	b.until("no cost", `/messages · (\$|cost unknown)/.test(document.querySelector(".titles p").innerText)`)
	s.end(t)
}

func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}

// What a program may find things by is there, each once.
func TestConsoleNames(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	once := func(things ...[2]string) {
		t.Helper()
		for _, thing := range things {
			b.sees(thing[0], thing[1])
			expect(t, strings.Join(thing[:], " "), 1, b.count(thing[0], thing[1]))
		}
	}
	b.until("no agents", `find.all("checkbox", null).length === 3`)
	b.types("textbox", "Message", "@")
	once([2]string{"navigation", "Conversations"}, [2]string{"textbox", "Message"}, [2]string{"listbox", "Mentions"}, [2]string{"button", "Send"}, [2]string{"button", "New chat"}, [2]string{"link", "Settings"})
	b.do(key("\x1b"))
	b.fills("textbox", "Message", "@oracle hello")
	b.click("button", "Send")
	once([2]string{"log", "Transcript"})
	b.says("operator", "@oracle hello")
	b.says("oracle", "I am a demo agent")
	roles := eval[string](b, `[...document.querySelectorAll("[role=log] article")].map((a) => a.computedRole + " " + a.computedName).join("|")`)
	if !slices.Equal(strings.Split(roles, "|"), []string{"article operator", "article oracle"}) {
		t.Errorf("the messages are %s", roles)
	}
	b.click("link", "Settings")
	once([2]string{"form", "Room"}, [2]string{"spinbutton", "Catch-up messages"}, [2]string{"spinbutton", "Catch-up characters"}, [2]string{"spinbutton", "Max rounds"}, [2]string{"button", "Save & Reload"})
	f.Config("room: { max_rounds: 99 }\nmodel: { provider: demo }\n%s", demoRoster)
	b.do(chromedpReload())
	b.until("no fault with its line", `find.all("alert", null).some((e) => /Line 1: room.max_rounds/.test(e.innerText))`)
	b.until("what the file says is not told", `document.body.innerText.includes("The file says 99; in force is 10.") && find.one("spinbutton", "Max rounds").value === "10"`)
	b.click("button", "Save & Reload")
	b.until("it is still told", `document.body.innerText.includes("Saved and in force.") && !document.body.innerText.includes("The file says")`)
	expectContains(t, "the file", "max_rounds: 10", read(t, f, "langgraph-config.yaml"))
	s.end(t)
}

// A server that was killed in mid-answer and is there again leaves nobody waiting: what was under way
// has failed, and the conversation goes on.
func TestConsoleRestart(t *testing.T) {
	f := binary.In(t)
	slow := newSlowly(t, "the first half ", "and the second")
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("slow", slow.url))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@slow tell me")
	b.until("no live text", `find.all("article", "slow").some((e) => e.innerText.includes("the first half"))`)
	b.types("textbox", "Message", "meanwhile")
	s.Signal(syscall.SIGKILL)
	s.Wait()
	b.until("nothing is told", `find.all("alert", null).some((e) => e.innerText.includes("The server cannot be reached"))`)
	again := f.Start("serve", "--addr", strings.TrimPrefix(s.url, "http://"))
	again.Out("\n")
	b.until("it is still waited for", `!find.one("button", "Stop") && !document.querySelector("[aria-busy]")`)
	expect(t, "a draft", "meanwhile", b.value("textbox", "Message"))
	b.fills("textbox", "Message", "@oracle and you?")
	b.click("button", "Send")
	b.says("oracle", "I am a demo agent")
	(&served{again, s.url}).end(t)
}

// A thread is compacted with a summary of one's own, or by the lead's model; what it takes is
// said before.
func TestConsoleCompact(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	s.long(t, 60)
	b := browse(t, s.url+"/#/thread/long")
	b.until("not all messages are there", `document.querySelectorAll("article").length === 60`)
	b.click("button", "More")
	b.click("menuitem", "Compact")
	b.until("what it takes is not said", `/in place of the 40 oldest messages; the 20 newest stay\..* about 2\d\d tokens/.test(document.querySelector("dialog").innerText)`)
	b.click("button", "Compact")
	b.until("nothing is told of a model that is none", `find.all("alert", null).some((e) => e.innerText.includes("give its text"))`)
	b.click("button", "More")
	b.click("menuitem", "Compact")
	b.types("textbox", "Summary (leave it empty to have it written)", "Many messages were counted.")
	b.click("button", "Compact")
	b.until("it is not compacted", `document.querySelectorAll("article").length === 21 && document.querySelector("article").innerText.includes("Many messages were counted.")`)
	b.until("the newest are not there", `[...document.querySelectorAll("article")].at(-1).innerText.includes("message 59")`)
	b.click("button", "Show earlier messages")
	b.until("what it stands for is not shown", `(() => { const all = [...document.querySelectorAll("article")]; return all.length === 61 && all[0].innerText.includes("message 0 ") && all[40].innerText.includes("Many messages were counted.") && all[40].innerText.includes("Summary"); })()`)
	b.until("there is said to be more", `!find.one("button", "Show earlier messages")`)
	b.click("button", "More")
	b.click("menuitem", "Take the summary back")
	b.until("the messages are not back", `document.querySelectorAll("article").length === 60 && document.querySelector("article").innerText.includes("message 0 ") && !document.querySelector("[role=log]").innerText.includes("Many messages were counted.")`)
	code, body := s.ask(t, "POST", "/api/threads/nobody/compact", `{}`)
	expect(t, "a thread that is none: "+body, 404, code)
	s.end(t)
}
