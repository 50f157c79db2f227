package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

var keys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "tab": {Code: tea.KeyTab},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "backspace": {Code: tea.KeyBackspace},
}

// hit presses keys by their names, or types what is none.
func hit(e *editor, names ...string) (act action, text string) {
	for _, name := range names {
		k, ok := keys[name]
		switch {
		case ok:
		case strings.HasPrefix(name, "ctrl+"):
			k = tea.KeyPressMsg{Code: rune(name[5]), Mod: tea.ModCtrl}
		default:
			e.enterText(name)
			continue
		}
		act, text = e.press(k)
	}
	return act, text
}

func TestEditor(t *testing.T) {
	type step struct {
		keys []string
		act  action
		sent string // with actSubmit
		left string // stands in the editor then
	}
	for name, steps := range map[string][]step{
		"a line":                              {{[]string{"hello", "enter"}, actSubmit, "hello", ""}},
		"blank":                               {{[]string{"  ", "enter"}, actNone, "", ""}},
		"a paste of lines is one text":        {{[]string{"a\r\nb\n\tc", "enter"}, actSubmit, "a\nb\n\tc", ""}},
		"a backslash goes on":                 {{[]string{`a\`, "enter"}, actNone, "", "a\n"}, {[]string{"b", "enter"}, actSubmit, "a\nb", ""}},
		"Alt-Enter goes on":                   {{[]string{"a", "alt+enter", "b"}, actNone, "", "a\nb"}},
		"Ctrl-J goes on":                      {{[]string{"a", "ctrl+j", "b"}, actNone, "", "a\nb"}},
		"Ctrl-C clears what is typed":         {{[]string{"half", "ctrl+c"}, actNone, "", ""}, {[]string{"ctrl+c"}, actInterrupt, "", ""}},
		"Ctrl-D ends on an empty line":        {{[]string{"ctrl+d"}, actEnd, "", ""}},
		"Ctrl-D deletes on another":           {{[]string{"ab", "left", "ctrl+d"}, actNone, "", "a"}},
		"Ctrl-X Ctrl-E":                       {{[]string{"a\nb", "ctrl+x", "ctrl+e"}, actEdit, "a\nb", "a\nb"}},
		"Ctrl-X and something else":           {{[]string{"ab", "ctrl+x", "c", "ctrl+e"}, actNone, "", "abc"}},
		"wide characters are whole":           {{[]string{"漢字", "backspace", "enter"}, actSubmit, "漢", ""}},
		"controls are left out, tabs stay":    {{[]string{"a\x1b[31m\tb", "enter"}, actSubmit, "a[31m\tb", ""}},
		"history goes up":                     {{[]string{"one", "enter"}, actSubmit, "one", ""}, {[]string{"two", "enter"}, actSubmit, "two", ""}, {[]string{"up", "up"}, actNone, "", "one"}},
		"history comes back":                  {{[]string{"one", "enter"}, actSubmit, "one", ""}, {[]string{"dra", "up", "down", "ft"}, actNone, "", "draft"}},
		"up moves within a text first":        {{[]string{"one", "enter"}, actSubmit, "one", ""}, {[]string{"a\nb", "up"}, actNone, "", "a\nb"}},
		"a message of 500 lines":              {{[]string{strings.Repeat("x\n", 499) + "x", "enter"}, actSubmit, strings.Repeat("x\n", 499) + "x", ""}},
		"more than the editor holds: nothing": {{[]string{"kept ", strings.Repeat("x\n", editorText+1)}, actNone, "", "kept "}},
	} {
		e := newEditor(&history{})
		for _, s := range steps {
			act, text := hit(e, s.keys...)
			same(t, name+": the action", s.act, act)
			same(t, name+": sent", s.sent, text)
			same(t, name+": left", s.left, e.text())
		}
	}
}

// Tab completes, and shows the choices where it cannot go on.
func TestEditorTab(t *testing.T) {
	c := &Chat{Complete: func(before string) []string {
		switch before {
		case "@r", "@re":
			return []string{"reader", "reviewer"}
		case "@rev":
			return []string{"reviewer"}
		}
		return nil
	}}
	e := newEditor(&history{})
	e.complete = c.suggest
	hit(e, "@r", "tab")
	same(t, "what all share", "@re", e.text())
	hit(e, "tab")
	same(t, "the choices", "@reader  @reviewer", e.hint)
	hit(e, "v", "tab", "x")
	same(t, "the only one, and the cursor behind it", "@reviewer x", e.text())
	same(t, "the hint is gone", "", e.hint)
	hit(e, "ctrl+c", "/h", "tab")
	same(t, "a command", "/help ", e.text())
	hit(e, "ctrl+c", "/", "tab")
	same(t, "the commands", "/help  /stop  /skip  /now  /quit", e.hint)
}

// What the editor shows is no wider than the screen, and changes the order of nothing.
func TestEditorView(t *testing.T) {
	e := newEditor(&history{})
	e.resize(12)
	hit(e, "漢字漢字漢字 a\u202eb")
	text, cursor := e.view()
	same(t, "rows", "› 漢字漢字\n  漢字 ab", text)
	same(t, "the cursor", [2]int{9, 1}, [2]int{cursor.X, cursor.Y})
	hit(e, "enter")
	text, cursor = e.view()
	same(t, "an empty one", "› ", text)
	same(t, "the cursor", [2]int{2, 0}, [2]int{cursor.X, cursor.Y})
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history")
	h := openHistory(path)
	for _, text := range []string{"one", "two\nlines \"x\"", "two\nlines \"x\"", strings.Repeat("x", maxHistoryEntry+1), "three"} {
		if err := h.add(text); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "kept in the file", []string{"one", "two\nlines \"x\"", "three"}, openHistory(path).entries)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("damaged\n\"four\"\n\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, "damaged lines are left out", []string{"four"}, openHistory(path).entries)
	many := openHistory(path)
	for i := range maxHistory + 5 {
		many.entries = append(many.entries, strings.Repeat("y", i+1))
	}
	if err := many.rewrite(); err != nil {
		t.Fatal(err)
	}
	same(t, "bounded", maxHistory, len(openHistory(path).entries))
	blocked := openHistory(filepath.Join(path, "below", "a", "file"))
	if err := blocked.add("x"); err == nil {
		t.Error("a history that cannot be kept is no error")
	}
	same(t, "it is there all the same", []string{"x"}, blocked.entries)
	t.Setenv("XDG_STATE_HOME", "/state")
	same(t, "the user's folder", filepath.FromSlash("/state/langrooms/history"), StateFile("langrooms", "history"))
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/x")
	same(t, "without one", filepath.FromSlash("/home/x/.local/state/a"), StateFile("a"))
}
