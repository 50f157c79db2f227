package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/langrooms/langrooms/internal/clitest"
)

// A person talks to the demo's roster: the rail, the transcript, the composer with its
// mentions, the settings. What the page names is found by role and name.
func TestConsole(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\nroom:\n  max_rounds: 3 # enough\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.sees("navigation", "Conversations")
	b.click("button", "New chat")
	b.types("textbox", "Message", "@or")
	b.sees("listbox", "Mentions")
	b.do(key("\t"))
	b.until("the mention was not taken", `find.one("textbox", "Message").value === "@oracle "`)
	b.types("textbox", "Message", "what broke the build?")
	b.click("button", "Send")
	b.sees("log", "Transcript")
	b.says("operator", "@oracle what broke the build?")
	b.says("oracle", "I am a demo agent")
	b.say("@proto @reviewer what broke the build?")
	b.says("proto", "I am a demo agent")
	b.says("reviewer", "I am a demo agent")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.say("@nobody are you there?")
	b.says("room", "Unknown or unreachable delegate")
	b.click("link", "Settings")
	b.sees("form", "Room")
	b.sees("spinbutton", "Catch-up messages")
	b.sees("spinbutton", "Catch-up characters")
	b.fills("spinbutton", "Max rounds", "99")
	expect(t, "a value above the ceiling", "10", b.value("spinbutton", "Max rounds"))
	b.click("button", "Save & Reload")
	b.until("not saved", `document.body.innerText.includes("Saved and in force.")`)
	expectContains(t, "the file", "max_rounds: 10 # enough", read(t, f, "langgraph-config.yaml"))
	b.fills("spinbutton", "Max cost of a message", "0.25")
	eval[bool](b, `(() => { const s = document.getElementById("room.parallel"); s.value = "first"; return s.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	b.until("no effect in words", `document.body.innerText.includes("have cost $0.25, no further member is asked.") && document.body.innerText.includes("answer at once")`)
	b.click("button", "Save & Reload")
	b.until("not saved", `document.body.innerText.includes("Saved and in force.")`)
	expectContains(t, "the file", "max_cost_usd: 0.25", read(t, f, "langgraph-config.yaml"))
	expectContains(t, "the file", "parallel: first", read(t, f, "langgraph-config.yaml"))
	f.Config("model: { provider: demo }\nroom:\n  max_rounds: 7\n%s", demoRoster)
	b.fills("spinbutton", "Max rounds", "4")
	b.click("button", "Save & Reload")
	b.sees("button", "Take the file's")
	b.until("both versions", `document.body.innerText.includes("In the file: 7") && document.body.innerText.includes("Yours: 4")`)
	b.click("button", "Save mine over it")
	b.until("not saved", `document.body.innerText.includes("Saved and in force.")`)
	expectContains(t, "the file", "max_rounds: 4", read(t, f, "langgraph-config.yaml"))
	b.click("link", "Roster")
	b.click("button", "Probe oracle")
	b.until("no health", `document.body.innerText.includes("\nanswers")`)
	b.until("no thread in the rail", `document.querySelector(".row a")`)
	eval[bool](b, `document.querySelector(".row a").click(), true`)
	b.says("oracle", "I am a demo agent")
	s.end(t)
	b.until("the fault is not told", `find.all("alert", null).some((e) => e.innerText.includes("The server cannot be reached"))`)
}

// demoRoster is that of the built-in configuration.
const demoRoster = `delegates:
  - { name: proto, type: acp, description: "builds and vets the working folder", command: "demo:proto" }
  - { name: reviewer, type: a2a, description: "reads the last commits", url: "demo:reviewer" }
  - { name: oracle, type: openai, description: "answers from the conversation", url: "demo:oracle", model: oracle }
`

func read(t testing.TB, f *clitest.Folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// slowly is a model that says first, waits until it may go on, and says the rest.
type slowly struct {
	url, first, rest string
	goOn             chan struct{}
}

func newSlowly(t testing.TB, first, rest string) *slowly {
	s := &slowly{first: first, rest: rest, goOn: make(chan struct{}, 8)}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.url = server.URL + "/v1"
	return s
}

func (s *slowly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	piece := func(text, end string) {
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":%s}]}\n\n", text, end)
		_ = http.NewResponseController(w).Flush() // who asked may have gone
	}
	piece(s.first, "null")
	select {
	case <-s.goOn:
		piece(s.rest, `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	case <-r.Context().Done():
	}
}

func voiceEntry(name, url string) string {
	return fmt.Sprintf("  - { name: %s, type: openai, url: %q, model: m }\n", name, url)
}

// What is said is seen while it is said, in each window, after a reload too; a message meanwhile
// waits; stop stops.
func TestConsoleLive(t *testing.T) {
	f := binary.In(t)
	slow := newSlowly(t, "the first half ", "and the second")
	f.Config("model: { provider: demo }\ndelegates:\n%s", voiceEntry("slow", slow.url))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@slow tell me")
	b.until("no live text", `find.all("article", "slow").some((e) => e.innerText.includes("the first half"))`)
	here := eval[string](b, "location.href")
	other := b.second(here)
	other.until("no live text in another window", `find.all("article", "slow").some((e) => e.innerText.includes("the first half"))`)
	other.types("textbox", "Message", "a draft of mine")
	b.click("button", "New chat")
	b.until("no agents", `find.all("checkbox", null).length === 1`)
	b.do(chromedp.NavigateBack())
	b.until("no live text after another conversation", `find.all("article", "slow").some((e) => e.innerText.includes("the first half"))`)
	b.do(chromedpReload())
	b.until("no live text after a reload", `find.all("article", "slow").some((e) => e.innerText.includes("the first half"))`)
	b.say("@slow and then?")
	b.until("not queued", `find.all("article", "operator").some((e) => e.innerText.includes("and then?") && e.innerText.includes("queued"))`)
	slow.goOn <- struct{}{}
	b.says("slow", "the first half and the second")
	other.says("slow", "the first half and the second")
	b.until("the second has not begun", `find.all("article", "slow").some((e) => e.getAttribute("aria-busy") === "true" && e.innerText.includes("the first half"))`)
	b.say("@slow and thirdly?")
	b.until("not queued", `find.all("article", "operator").some((e) => e.innerText.includes("and thirdly?") && e.innerText.includes("queued"))`)
	b.click("button", "Stop")
	b.until("it goes on", `!find.one("button", "Stop")`)
	b.until("nothing is said of the stop", `find.all("article", "slow").some((e) => e.innerText.includes("incomplete"))`)
	b.until("what was not begun has not come back", `find.one("textbox", "Message").value === "@slow and thirdly?"`)
	other.until("the other window differs", `find.all("article", "slow").length === 2 && !find.one("button", "Stop")`)
	expect(t, "a draft beside a turn", "a draft of mine", other.value("textbox", "Message"))
	order := `find.all("article", "slow").concat(find.all("article", "operator")).length`
	expect(t, "messages in both windows", eval[int](b, "(() => { const find = "+finder+"; return "+order+"; })()"), eval[int](other, "(() => { const find = "+finder+"; return "+order+"; })()"))
	s.end(t)
}

const hostileText = `# Hello <script>window.pwned = 1</script>

<img src=x onerror="window.pwned = 2"> <svg onload="window.pwned = 3"><a xlink:href="javascript:window.pwned=4"><text>svg</text></a></svg>

[a link](javascript:window.pwned=5) [data](data:text/html,<script>window.pwned=6</script>) ![far](https://evil.example/pixel.png)
<iframe srcdoc="<script>parent.pwned = 7</script>"></iframe> <style>body { display: none }</style> <form action="https://evil.example"><input name=key></form>
<a href="https://fine.example" onclick="window.pwned = 8" style="position:fixed;inset:0">over all</a>

right ` + "\u202e" + `to left

` + "```html\n<script>window.pwned = 9</script>\n```" + `

| a | b |
| --- | --- |
| <b onmouseover="window.pwned = 10">x</b> | y |
`

// What a model says runs nowhere, asks nobody, and can be read.
func TestConsoleHostile(t *testing.T) {
	f := binary.In(t)
	texts := map[string]string{"markup": hostileText, "huge": strings.Repeat("a very long line of words that goes on ", 27_000), "code": "```\n" + strings.Repeat("x = 1\n", 20_000) + "```"}
	m := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		for name, text := range texts {
			if strings.Contains(q.Last(), "say "+name) {
				return clitest.Say(text)
			}
		}
		return clitest.Say("what?")
	})
	f.Config("model: { provider: demo }\ndelegates:\n%s%s", voiceEntry("mallory", m.URL), voiceEntry("раypal", m.URL)) // the second begins in Cyrillic
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@mallory say markup")
	b.says("mallory", "<script>window.pwned = 1</script>")
	b.says("mallory", "‹U+202E›")
	b.until("the code is not coloured", `document.querySelector("pre .hljs-tag, pre .hljs-name")`)
	for what, bad := range map[string]string{
		"a script":                `document.querySelectorAll("article script, article svg, article iframe, article form, article style, article [onerror], article [onclick], article [onload], article [style], article object, article embed").length`,
		"a link that runs":        `[...document.querySelectorAll("article a")].filter((a) => a.hasAttribute("href") && !/^(https?|mailto):/.test(a.href)).length`,
		"a picture of elsewhere":  `[...document.querySelectorAll("article img")].filter((i) => !i.src.startsWith("data:")).length`,
		"something that was run":  `Number(window.pwned ?? 0)`,
		"a request to another":    `performance.getEntriesByType("resource").filter((r) => !r.name.startsWith(location.origin)).length`,
		"a sideways page":         `Math.max(0, document.documentElement.scrollWidth - innerWidth)`,
		"a link that knows of us": `[...document.querySelectorAll("article a[href]")].filter((a) => !a.rel.includes("noopener")).length`,
	} {
		if n := eval[int](b, bad); n != 0 {
			t.Errorf("%s in the page: %d", what, n)
		}
	}
	b.say("@mallory say huge")
	b.says("mallory", "This message has 102")
	b.say("@mallory say code")
	b.until("no code", `[...document.querySelectorAll("article pre")].some((p) => p.innerText.length > 100000 && p.clientHeight < 500)`)
	b.click("button", "New chat")
	b.say("@раypal who are you?")
	b.until("a name of two alphabets is not marked", `find.all("article", "раypal").some((e) => e.innerText.includes("mixed letters"))`)
	s.end(t)
}

// A shared session: begun with two agents, a mention wakes one, it is closed and stays readable.
func TestConsoleSession(t *testing.T) {
	f := binary.In(t)
	slow := newSlowly(t, "thinking aloud", " and done")
	f.Config("model: { provider: demo }\n%s%s", demoRoster, voiceEntry("slow", slow.url))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.until("no agents to pick", `find.all("checkbox", null).length === 4`)
	eval[bool](b, `[...document.querySelectorAll(".card input")].filter((i) => /oracle|slow/.test(i.parentElement.innerText)).map((i) => i.click()).length === 2`)
	b.say("Release notes")
	b.until("no session", `location.hash.startsWith("#/room/")`)
	b.says("operator", "Release notes")
	b.says("room", "oracle")
	b.say("what do you think, @oracle?")
	b.says("oracle", "I am a demo agent")
	b.say("and @slow?")
	b.until("no live text", `find.all("article", "slow").some((e) => e.innerText.includes("thinking aloud"))`)
	b.click("button", "Stop slow")
	b.until("it goes on", `!find.one("button", "Stop slow")`)
	b.click("button", "More")
	b.click("menuitem", "Close session")
	b.click("button", "Close session")
	b.until("it is not closed", `document.body.innerText.includes("Its transcript stays readable.") && !find.one("textbox", "Message")`)
	b.click("button", "More")
	b.click("menuitem", "Reopen")
	b.sees("textbox", "Message")
	id := strings.TrimPrefix(eval[string](b, "location.hash"), "#/room/")
	b.click("button", "New chat")
	b.goTo(s.url + "/sessions/" + id)
	b.says("oracle", "I am a demo agent")
	s.end(t)
}

// A thread with one agent stays that: addressing another opens a session of both.
func TestConsoleOneToOne(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.until("no agents to pick", `find.all("checkbox", null).length === 3`)
	eval[bool](b, `[...document.querySelectorAll(".card input")].filter((i) => /oracle/.test(i.parentElement.innerText)).map((i) => i.click()).length === 1`)
	b.say("what broke?")
	b.says("oracle", "I am a demo agent")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	thread := eval[string](b, "location.hash")
	b.say("@reviewer what do you say?")
	b.until("no session", `location.hash.startsWith("#/room/")`)
	b.says("reviewer", "I am a demo agent")
	b.goTo(s.url + "/" + thread)
	b.says("oracle", "I am a demo agent")
	expect(t, "words of the other in the thread", 0, b.count("article", "reviewer"))
	s.end(t)
}

// Messages are edited, forked and taken back from their menus.
func TestConsoleMenus(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@oracle the first")
	b.says("oracle", "I am a demo agent")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.say("@oracle the second")
	b.until("no second answer", `find.all("article", "oracle").length === 2 && !find.one("button", "Stop")`)
	b.menu("operator", 1, "Edit and resend")
	b.until("nothing to edit", `find.one("textbox", "Message").value === "@oracle the second"`)
	b.until("what it drops is not said", `document.querySelector(".composer .notice").innerText.includes("Sending drops the message after it from this thread")`)
	b.fills("textbox", "Message", "@oracle another second")
	b.click("button", "Send")
	b.says("operator", "another second")
	b.until("the branch is not shown", `find.all("article", "oracle").length === 2 && !document.querySelector("[role=log]").innerText.includes("@oracle the second") && !find.one("button", "Stop")`)
	thread := eval[string](b, "location.hash")
	b.menu("oracle", 0, "Fork from here")
	b.until("no fork", `location.hash !== `+fmt.Sprintf("%q", thread)+` && find.all("article", "operator").length === 1 && find.all("article", "oracle").length === 1`)
	b.goTo(s.url + "/" + thread)
	b.until("the thread has changed", `find.all("article", "oracle").length === 2`)
	b.menu("operator", 1, "Rewind to here")
	b.until("what it takes back is not said", `document.querySelector("dialog").innerText.includes("Rewind takes back 2 messages, this one included.")`)
	b.click("button", "Rewind")
	b.until("nothing was taken back", `find.all("article", "oracle").length === 1 && find.all("article", "operator").length === 1`)
	b.menu("oracle", 0, "Retry")
	b.until("no other answer", `find.all("article", "oracle").length === 1 && !find.one("button", "Stop")`)
	b.click("button", "More")
	b.click("menuitem", "Delete")
	b.click("button", "Delete")
	b.until("it is there", `location.hash === "#/new"`)
	b.say("@nope hello")
	b.says("room", "Unknown or unreachable")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.say("@oracle hello")
	b.says("oracle", "I am a demo agent")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.menu("operator", 1, "Rewind to here")
	b.click("button", "Rewind")
	b.until("nothing was taken back", `find.all("article", "oracle").length === 0 && find.all("article", "room").length === 1`)
	b.menu("operator", 0, "")
	expect(t, "what cannot be done to words beside the thread", 0, b.count("menuitem", "Rewind to here"))
	b.do(key("\x1b"))
	b.say("@oracle once more")
	b.says("oracle", "I am a demo agent")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.click("button", "More")
	b.click("menuitem", "Delete")
	b.click("button", "Delete")
	b.until("it is there", `location.hash === "#/new"`)
	s.end(t)
}

// With keys the page asks for one, and the scripts never see it.
func TestConsoleSignIn(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\nserver:\n  keys:\n    - { name: ada, key: planted-ada, admin: true }\n    - { name: bob, key: planted-bob }\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.types("textbox", "Key", "wrong")
	b.click("button", "Sign in")
	b.until("no fault", `find.all("alert", null).some((e) => e.innerText.includes("not known"))`)
	b.fills("textbox", "Key", "planted-bob")
	b.click("button", "Sign in")
	b.sees("button", "New chat")
	expect(t, "settings of one who is no admin", 0, b.count("link", "Settings"))
	expect(t, "the key in the page", "", eval[string](b, `document.cookie`))
	b.say("@oracle hello")
	b.says("bob", "@oracle hello")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.types("textbox", "Message", "@oracle what is not to be lost")
	eval[bool](b, `fetch("/signout", { method: "POST" }).then(() => true)`)
	b.click("button", "Send")
	b.types("textbox", "Key", "planted-bob")
	b.click("button", "Sign in")
	b.until("what was written when the key was gone is lost", `find.one("textbox", "Message")?.value === "@oracle what is not to be lost"`)
	b.click("button", "Sign out")
	b.types("textbox", "Key", "planted-ada")
	b.click("button", "Sign in")
	b.sees("link", "Settings")
	s.end(t)
}

// Without shared sessions one agent can be picked, and a link to a session says why nothing is there.
func TestConsoleWithoutSessions(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\nshared_sessions: { enabled: false }\n%s", demoRoster)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.until("more than one can be picked", `find.all("radio", null).length === 3 && find.all("checkbox", null).length === 0`)
	b.goTo(s.url + "/sessions/room_0123456789abcdef")
	b.until("nothing is said", `find.all("alert", null).some((e) => e.innerText.includes("This conversation isn't available on this instance."))`)
	s.end(t)
}

// The rail finds, stars and tells what is new; the keyboard reaches everything.
func TestConsoleRail(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\n%s", demoRoster)
	s := serve(t, f)
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-t", "first", "-m", "@oracle about needles").Status)
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-t", "second", "-m", "@oracle about haystacks").Status)
	b := browse(t, s.url+"/")
	rows := func(want string) string {
		return `[...document.querySelectorAll(".row bdi")].map((e) => e.innerText).join() === "` + want + `"`
	}
	b.until("the newest is not first", rows("about haystacks,about needles"))
	b.click("button", "Star about needles")
	b.until("the starred one is not first", rows("about needles,about haystacks"))
	b.types("searchbox", "Search conversations", "haystack")
	b.until("not found", rows("about haystacks"))
	b.fills("searchbox", "Search conversations", "shown NOTHING")
	b.until("what was said is not found", rows("about needles,about haystacks")+` && [...document.querySelectorAll(".said")].every((e) => e.innerText.includes("I have been shown nothing"))`)
	b.fills("searchbox", "Search conversations", "nothing like it")
	b.until("found", rows(""))
	b.do(key("\b"))
	b.fills("searchbox", "Search conversations", " ")
	eval[bool](b, `dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true })), true`)
	b.types("combobox", "Type a command or a conversation", "needles")
	b.do(key("\r"))
	b.says("oracle", "I am a demo agent")
	b.until("not the thread", `location.hash === "#/thread/first"`)
	eval[bool](b, `document.activeElement.blur(), dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", altKey: true })), true`)
	b.until("not the one below", `location.hash === "#/thread/second"`)
	b.says("oracle", "I am a demo agent")
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-t", "first", "-m", "@oracle more of it").Status)
	b.until("no news of the other", `find.all("image", "New activity").length + find.all("img", "New activity").length === 1`)
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-t", "second", "-m", "@oracle here as well").Status)
	b.says("operator", "here as well")
	eval[bool](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true })), true`)
	b.sees("dialog", "Keyboard shortcuts")
	b.click("button", "Close")
	b.click("button", "Theme")
	b.until("not the dark theme", `document.documentElement.dataset.theme === "dark"`)
	s.end(t)
}
