package main

import (
	"testing"
)

// A person talks to the room in a browser: what the page names is found by role and name.
func TestConsole(t *testing.T) {
	f := binary.In(t)
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.sees("navigation", "Conversations")
	b.click("button", "New chat")
	b.sees("link", "Settings")
	b.shoot("new")
	b.types("textbox", "Message", "@or")
	b.sees("listbox", "Mentions")
	b.shoot("mentions")
	b.do(key("\t"))
	b.until("the mention was not taken", `find.one("textbox", "Message").value === "@oracle "`)
	b.types("textbox", "Message", "what broke the build?")
	b.click("button", "Send")
	b.sees("log", "Transcript")
	b.says("operator", "@oracle what broke the build?")
	b.says("oracle", "")
	b.say("@proto @reviewer what broke the build?")
	b.says("proto", "")
	b.says("reviewer", "")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.shoot("thread")
	b.click("link", "Settings")
	b.sees("form", "Room")
	b.sees("spinbutton", "Max rounds")
	b.shoot("settings")
	s.end(t)
}
