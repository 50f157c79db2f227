package setup_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// A member that leaves the roster leaves its conversations, whichever store has them: one that
// comes back under its name begins anew. One that is only changed, refused for now, or back at
// what it was goes on.
func TestRemovedMemberBeginsAnew(t *testing.T) {
	for _, setting := range []string{"memory", "durable"} {
		t.Run(setting, func(t *testing.T) {
			file := func(entries string) string { return "continuity: " + setting + "\n" + base + "delegates:\n" + entries }
			const stays = "  - { name: stays, type: a2a, url: 'http://127.0.0.1:1' }\n"
			const goes = "  - { name: goes, type: a2a, url: 'http://127.0.0.1:2' }\n"
			a, f := openFile(t, file(stays+goes))
			key := func(name string) delegate.ContextKey { return delegate.ContextKey{Thread: "t", Delegate: name} }
			expect(t, "learn", nil, errors.Join(a.Continuity.Learn(t.Context(), key("stays"), "s1"), a.Continuity.Learn(t.Context(), key("goes"), "g1")))
			known := func(what, stays, goes string) {
				t.Helper()
				eventually(t, func() error {
					s, err := a.Continuity.Get(t.Context(), key("stays"))
					g, errGoes := a.Continuity.Get(t.Context(), key("goes"))
					if s != stays || g != goes || errors.Join(err, errGoes) != nil {
						return fmt.Errorf("%s: %q and %q, %v", what, s, g, errors.Join(err, errGoes))
					}
					return nil
				})
			}
			f.write(file(stays + "  - { name: goes, type: a2a, url: 'http://127.0.0.1:3' }\n"))
			a.has("stays", "goes")
			f.write(file(stays + "  - { name: goes, type: a2a, url: 'no url' }\n"))
			a.has("stays")
			f.write(file(stays + goes))
			a.has("stays", "goes")
			known("changed, refused, and back", "s1", "g1")
			f.write(file(stays))
			known("removed", "s1", "")
			f.write(file(stays + goes))
			a.has("stays", "goes")
			expect(t, "learn", nil, a.Continuity.Learn(t.Context(), key("goes"), "g2"))
			known("added again", "s1", "g2")
		})
	}
}
