package main

import "testing"

// What an answer took and cost is told when it is asked for, after a reload too, and what a thread has cost by member;
// unknown is not zero.
func TestConsoleCosts(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\nroom: { max_rounds: 1 }\n%s", roster(priced("proto", says(t, "auth did"), 100_000, 50_000), openaiEntry("free", says(t, "who knows"))))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	a := newAxe(t, b)
	b.say("@proto @free what broke?")
	b.says("proto", "auth did")
	b.says("free", "who knows")
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	expect(t, "told without having been asked for", false, eval[bool](b, `document.querySelector("[role=log]").innerText.includes("tokens")`))
	b.menu("proto", 0, "Show cost and time")
	b.until("not told", `/(Took [\d.]+ s|Was there [\d.]+ s after its question) · 3 tokens read, 2 written · \$0\.40/.test(find.all("article", "proto")[0].innerText)`)
	b.menu("proto", 0, "Hide cost and time")
	b.until("still told", `!find.all("article", "proto")[0].innerText.includes("tokens")`)
	b.do(chromedpReload())
	b.menu("free", 0, "Show cost and time")
	b.until("not told after a reload", `/Was there [\d.]+ s after its question · 3 tokens read, 2 written · cost unknown/.test(find.all("article", "free")[0].innerText)`)
	a.check("what an answer cost")
	b.click("button", "More")
	b.click("menuitem", "Costs")
	b.until("no sums", `find.one("dialog", "Costs")?.querySelector("tbody")`)
	rows := eval[string](b, `[...document.querySelectorAll("dialog tr")].map((r) => [...r.children].map((c) => c.innerText).join(" ")).join("|")`)
	expect(t, "the sums", "Member Answers Tokens read Tokens written Cost|free 1 3 2 –|proto 1 3 2 $0.40|Total 2 6 4 $0.40", rows)
	b.until("what is unknown is not said", `document.querySelector("dialog").innerText.includes("One answer of unknown cost is not in these sums.")`)
	a.check("the costs of a thread")
	b.click("button", "Close")
	eval[bool](b, `(URL.createObjectURL = (blob) => { blob.text().then((t) => { window.exported = t; }); return "blob:none"; }, true)`)
	b.menu("proto", 0, "Export")
	b.until("a message is not exported", `window.exported?.includes("auth did") && !window.exported.includes("who knows")`)
	b.say("@proto once more")
	b.until("no second answer", `find.all("article", "proto").length === 2 && !find.one("button", "Stop")`)
	b.menu("proto", 1, "Show cost and time")
	b.until("how long it took is not told", `/Took [\d.]+ s · /.test(find.all("article", "proto")[1].innerText)`)
	s.end(t)
}
