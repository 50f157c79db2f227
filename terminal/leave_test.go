package terminal

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms/delegate"
)

// Questions are shown one at a time, each is answered once, and one that is withdrawn is no.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := NewLeave(NewPrinter(&out, &out, false))
		answered := make(chan delegate.PermissionAnswer, 3)
		ask := func(ctx context.Context, title string) {
			go func() {
				answered <- l.Ask(ctx, delegate.PermissionRequest{Delegate: "proto", Title: title, Kind: "execute"})
			}()
			synctest.Wait()
		}
		press := func(name, args string) (told, shown string) {
			for _, c := range l.Commands() {
				if c.Name == name {
					if _, err := c.Do(t.Context(), args); err != nil {
						told = err.Error()
					}
				}
			}
			synctest.Wait()
			shown = out.String()
			out.Reset()
			return told, shown
		}
		const usage = "\n/yes allows it once, /always for this conversation, /no refuses.\n"
		pressed := func(what, name, args, told, shown string) {
			t.Helper()
			gotTold, gotShown := press(name, args)
			same(t, what, []string{told, shown}, []string{gotTold, gotShown})
		}
		pressed("none", "yes", "", "no delegate asks for leave", "")
		ask(t.Context(), "rm -r \x1b[2J")
		ask(t.Context(), "")
		pressed("the first", "yes", "please", "/yes takes nothing behind it", "@proto asks for leave: “rm -r <1B>[2J” (execute)"+usage)
		pressed("the second", "always", "", "", "@proto asks for leave: a tool call of kind execute"+usage)
		same(t, "the answer", delegate.PermissionConversation, <-answered)
		pressed("answered", "no", "", "", "")
		same(t, "the answer", delegate.PermissionNo, <-answered)
		ctx, cancel := context.WithCancel(t.Context())
		ask(ctx, "ls")
		cancel()
		same(t, "the answer", delegate.PermissionNo, <-answered)
		pressed("withdrawn", "yes", "", "no delegate asks for leave", "@proto asks for leave: “ls” (execute)"+usage+"@proto does not wait for leave any more.\n")
	})
}
