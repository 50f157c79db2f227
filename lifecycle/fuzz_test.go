package lifecycle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/lifecycle"
)

// An import never panics; what it refuses is ErrImport and leaves nothing; what it takes
// can be exported and imported again as it is.
func FuzzImport(f *testing.F) {
	f.Add(oneMessage)
	f.Add(`{"format":"langrooms thread","version":1,"messages":[
{"id":"s","time":"2026-01-02T03:04:05Z","role":"system","parts":[{"kind":"text","text":"short"}],"summary":{"replaced":3,"members":[{"name":"proto","seen":9}]},"seq":7},
{"id":"r","time":"2026-01-02T03:04:05+02:00","role":"human","parts":[{"kind":"binary","data":"AP8="}],"stamp":{"from":"proto","to":["a"],"seen":8,"x":[1]},"y":null,"seq":8}]}`)
	f.Add(`{"format":"langrooms thread","version":1,"messages":[null]}`)
	f.Fuzz(func(t *testing.T, in string) {
		s := closing(t, memorysaver.New(), nil)
		threads := threadsOf(s)
		_, err := threads.Import(t.Context(), "t", strings.NewReader(in))
		if err != nil {
			if !errors.Is(err, lifecycle.ErrImport) {
				t.Errorf("the error is %v", err)
			}
			expect(t, "left", []string(nil), texts(t, s, "t"))
			return
		}
		first := history(t, s, "t")
		for _, m := range first {
			if m.Stamp != nil && m.Stamp.Incognito {
				return // comes out without its content
			}
		}
		export(t, s, "t", lifecycle.Markdown)
		if _, err := threads.Import(t.Context(), "again", strings.NewReader(export(t, s, "t", lifecycle.JSON))); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, history(t, s, "again")); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}
