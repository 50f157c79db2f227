package main

import "testing"

// A delegate is added, changed and removed by the schema of its type, without a restart; what
// the file refuses is told, and a secret is not in the page.
func TestConsoleRoster(t *testing.T) {
	f := binary.In(t)
	f.Config("# ours\nmodel: { provider: demo }\n%s%s", demoRoster, "  - { name: keyed, type: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key: planted-key } # kept\n")
	s := serve(t, f)
	b := browse(t, s.url+"/#/roster")
	b.until("health is not told by itself", `document.body.innerText.includes("does not answer") && document.querySelectorAll(".lamp.on").length === 3 && document.querySelectorAll(".lamp.off").length === 1`)
	expect(t, "what is told aloud without having been asked for", 0, eval[int](b, `document.querySelectorAll(".roster [role=status]").length`))
	b.click("button", "Probe keyed")
	b.until("who has asked is not told", `/does not answer/.test(document.querySelector(".roster [role=status]")?.innerText)`)
	b.click("button", "Add delegate")
	b.types("textbox", "Name", "proto")
	b.until("no types", `find.one("combobox", "Type")?.options.length === 3`)
	b.types("textbox", "url", "demo:reviewer")
	b.click("button", "Save & Reload")
	b.until("a name that is taken is not told", `find.all("alert", null).some((e) => e.innerText.includes("proto"))`)
	b.fills("textbox", "Name", "second")
	b.types("textbox", "auth.credentialsEnv", "SECOND_KEY")
	b.click("button", "Save & Reload")
	b.until("it is not on the roster", `!find.one("dialog", "Add delegate") && find.one("button", "Probe second")`)
	expectContains(t, "the file", "credentialsEnv: SECOND_KEY", read(t, f, "langgraph-config.yaml"))
	b.click("button", "Actions for keyed")
	b.click("menuitem", "Edit")
	b.until("no values", `find.one("textbox", "model")?.value === "m" && document.body.innerText.includes("Set in the file and not shown: api_key")`)
	b.fills("textbox", "model", "larger")
	b.click("button", "Save & Reload")
	b.until("not saved", `!find.one("dialog", "Edit keyed")`)
	expectContains(t, "the file", "model: larger, api_key: planted-key } # kept", read(t, f, "langgraph-config.yaml"))
	expect(t, "the secret in the page", false, eval[bool](b, `document.documentElement.outerHTML.includes("planted-key")`))
	b.click("button", "Actions for second")
	b.click("menuitem", "Remove")
	b.click("button", "Remove")
	b.until("it is still there", `!find.one("button", "Probe second")`)
	b.click("button", "New chat")
	b.until("the roster is old", `find.all("checkbox", null).length === 4`)
	s.end(t)
}
