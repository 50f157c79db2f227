package main

import (
	"strings"
	"testing"
)

// A list of conversations is told what they are called and who speaks there, of the caller's own alone, and nothing that
// was said off the record.
func TestTitlesOfTheServer(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), "room: { max_rounds: 1 }\nserver:\n  keys:\n    - { name: bob, key: planted-bob }\n    - { name: root, key: planted-root, admin: true }\n"+
		roster(openaiEntry("one", says(t, "first")), openaiEntry("two", says(t, "second"))))
	f.Run("chat", "-t", "local", "-m", "@one @two about\nneedles")
	f.Run("chat", "-t", "secret", "--incognito", "-m", "@one a planted secret")
	s := serve(t, f)
	const ask = `{"ids":["local","none","secret"]}`
	code, body := s.ask(t, "POST", "/api/threads/titles", ask, "X-Api-Key", "planted-root")
	expect(t, "status", 200, code)
	expect(t, "an admin's", `{"titles":[{"thread_id":"local","title":"about needles","agents":["one","two"]},{"thread_id":"secret","title":"","agents":["one"]}]}`, strings.TrimSpace(body))
	code, body = s.ask(t, "POST", "/api/threads/titles", ask, "X-Api-Key", "planted-bob")
	expect(t, "bob's", []any{200, `{"titles":[]}`}, []any{code, strings.TrimSpace(body)})
	code, _ = s.ask(t, "POST", "/api/threads/titles", `{"ids":["x"`+strings.Repeat(`,"x"`, 200)+`]}`, "X-Api-Key", "planted-bob")
	expect(t, "too many", 422, code)
	s.end(t)
}
