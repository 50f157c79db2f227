package main

import "testing"

// A moderator invites agents and people, who find the session in their rail and write in it; takes one out again;
// gives it more messages, and closes it, when its scribe sums it up.
func TestConsoleMembers(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\nserver:\n  keys:\n    - { name: ada, key: planted-ada }\n    - { name: bob, key: planted-bob }\n%s", demoRoster)
	s := serve(t, f)
	code, body := s.ask(t, "POST", "/api/rooms", `{"name":"release","topic":"is it ready","agents":["proto"],"scribe":"proto","max_messages":30}`, "X-Api-Key", "planted-ada")
	expect(t, "a session: "+body, 200, code)
	id := between(body, `"id":"`, `"`)
	signIn := func(key string) *browser {
		b := browse(t, s.url+"/")
		b.types("textbox", "Key", key)
		b.click("button", "Sign in")
		b.sees("button", "New chat")
		return b
	}
	ada, bob := signIn("planted-ada"), signIn("planted-bob")
	more := func(action string) {
		t.Helper()
		ada.click("button", "More")
		ada.click("menuitem", action)
	}
	members := func(want string) string {
		return `[...document.querySelectorAll(".members .sr")].map((e) => e.innerText).join("|") === "` + want + `"`
	}
	ada.goTo(s.url + "/sessions/" + id)
	ada.until("no members", members("ada, moderator|proto, scribe"))
	expect(t, "topic and budget", true, eval[bool](ada, `/0 of 30 messages .* is it ready/.test(document.querySelector(".titles p").innerText)`))
	more("Add agent: oracle")
	ada.until("no agent more", members("ada, moderator|proto, scribe|oracle, member"))
	more("Invite a person")
	ada.types("textbox", "Name", "bob")
	ada.click("button", "Invite")
	ada.until("no person more", members("ada, moderator|proto, scribe|oracle, member|bob, member"))
	more("Remove oracle")
	ada.until("the agent is there", members("ada, moderator|proto, scribe|bob, member"))
	bob.until("not in the rail of who was invited", `document.querySelector(".row bdi")?.innerText === "release"`)
	eval[bool](bob, `document.querySelector(".row a").click(), true`)
	bob.say("it is, @proto")
	bob.says("proto", "I am a demo agent")
	ada.says("bob", "it is, @proto")
	bob.click("button", "More")
	bob.sees("menuitem", "Export")
	expect(t, "what a member may not", 0, bob.count("menuitem", "Close session"))
	more("Add 20 messages")
	ada.until("no more messages", `document.querySelector(".titles p").innerText.includes(" of 50 messages")`)
	eval[bool](ada, `(Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (t) => { window.copied = t; } } }), true)`)
	more("Copy link")
	ada.until("no link", `window.copied === location.origin + "/sessions/`+id+`"`)
	more("Rename")
	ada.fills("textbox", "Title", "release 2")
	ada.click("button", "OK")
	ada.until("no other name", `document.querySelector("h1").innerText === "release 2" && document.querySelector(".row bdi").innerText === "release 2"`)
	more("Close session")
	ada.click("button", "Close session")
	ada.until("no summary", `document.querySelector("details.notice")?.textContent.includes("I am a demo agent")`)
	more("Reopen")
	ada.sees("textbox", "Message")
	more("Remove bob")
	bob.until("who was taken out is not told", `find.all("alert", null).length > 0`)
	s.end(t)
}
