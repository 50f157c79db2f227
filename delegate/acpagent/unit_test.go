package acpagent

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/langrooms/langrooms/internal/redact"
)

func TestNewNamesTheBadField(t *testing.T) {
	for field, c := range map[string]Config{
		"name":          {Name: "a b"},
		"command":       {Command: "\x00"},
		"args":          {Args: []string{"ok", "a\x00"}},
		"workdir":       {WorkDir: "a\x00"},
		"env:":          {Env: map[string]string{"A=B": "c"}},
		"env: ":         {Env: map[string]string{"A": "\x00"}},
		"env_remove":    {EnvRemove: []string{""}},
		"timeout_s":     {Timeout: -1},
		"idle_limit_s":  {IdleLimit: -1},
		"permissions":   {Permissions: "maybe"},
		"allow_kinds":   {AllowKinds: []string{"read", "reed"}},
		"deny_kinds":    {DenyKinds: []string{"EXECUTE"}},
		"command: \"\"": {Command: "-"},
	} {
		if c.Name == "" {
			c.Name = "proto"
		}
		switch c.Command {
		case "":
			c.Command = "agent"
		case "-":
			c.Command = ""
		}
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: New = %v", field, err)
		}
	}
}

func TestNewCopiesTheConfig(t *testing.T) {
	c := Config{Name: "proto", Command: "agent", Args: []string{"a"}, Env: map[string]string{"A": "1"},
		EnvRemove: []string{"B"}, AllowKinds: []string{"read"}, DenyKinds: []string{"edit"}}
	a := newAgent(t, c)
	c.Args[0], c.Env["A"], c.EnvRemove[0], c.AllowKinds[0], c.DenyKinds[0] = "x", "x", "x", "think", "think"
	want := Config{Args: []string{"a"}, Env: map[string]string{"A": "1"}, EnvRemove: []string{"B"}, AllowKinds: []string{"read"}, DenyKinds: []string{"edit"}}
	got := Config{Args: a.config.Args, Env: a.config.Env, EnvRemove: a.config.EnvRemove, AllowKinds: a.config.AllowKinds, DenyKinds: a.config.DenyKinds}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("the agent's config changed (-want +got):\n%s", diff)
	}
	if a.config.Timeout != 1800*time.Second || a.config.Permissions != PermissionsAuto || a.config.IdleLimit != 30*time.Minute {
		t.Errorf("the defaults are %v, %v, %v", a.config.Timeout, a.config.Permissions, a.config.IdleLimit)
	}
}

// Spec: rooms, section 6 (acp), permissions; for every kind and one that ACP does not have.
func TestPermissionTable(t *testing.T) {
	for _, c := range []struct {
		config  Config
		allowed string
	}{
		{Config{Permissions: PermissionsAuto}, "read edit delete move search execute think fetch switch_mode other new"},
		{Config{Permissions: PermissionsAllowlist}, "read edit move search think fetch switch_mode other new"},
		{Config{Permissions: PermissionsReadonly}, "read search think fetch"},
		{Config{Permissions: PermissionsAuto, AllowKinds: []string{"edit", "execute"}}, "edit execute"},
		{Config{Permissions: PermissionsAllowlist, AllowKinds: []string{"edit", "execute"}}, "edit execute"},
		{Config{Permissions: PermissionsReadonly, AllowKinds: []string{"execute"}}, "execute"},
		{Config{Permissions: PermissionsReadonly, AllowKinds: []string{"edit", "read"}, DenyKinds: []string{"read"}}, "edit"},
		{Config{Permissions: PermissionsAsk}, ""},
		{Config{Permissions: PermissionsAsk, AllowKinds: []string{"read"}}, "read"},
		{Config{Permissions: PermissionsAuto, DenyKinds: []string{"other", "fetch"}}, "read edit delete move search execute think switch_mode"},
		{Config{Permissions: PermissionsAllowlist, DenyKinds: []string{"edit"}}, "read move search think fetch switch_mode other new"},
		{Config{Permissions: PermissionsAuto, AllowKinds: []string{"read", "edit"}, DenyKinds: []string{"edit"}}, "read"},
		{Config{Permissions: PermissionsReadonly, DenyKinds: []string{"fetch"}}, "read search think"},
	} {
		var allowed []string
		for _, kind := range append(toolKinds[:len(toolKinds):len(toolKinds)], "new") {
			if c.config.judge(kind).allowed {
				allowed = append(allowed, kind)
			}
		}
		if got := strings.Join(allowed, " "); got != c.allowed {
			t.Errorf("%s, allow %q, deny %q: %q, want %q", c.config.Permissions, c.config.AllowKinds, c.config.DenyKinds, got, c.allowed)
		}
	}
}

func TestPermissionAnswerFitsTheOptions(t *testing.T) {
	options := func(kinds ...acp.PermissionOptionKind) (list []acp.PermissionOption) {
		for _, k := range kinds {
			list = append(list, acp.PermissionOption{Kind: k, OptionId: acp.PermissionOptionId(k)})
		}
		return list
	}
	for _, c := range []struct {
		options []acp.PermissionOption
		yes, no string
	}{
		{options("allow_always", "allow_once", "reject_always", "reject_once"), "allow_once", "reject_once"},
		{options("allow_always", "reject_always"), "allow_always", "reject_always"},
		{options("allow_once"), "allow_once", ""},
		{options("reject_once"), "", "reject_once"},
		{options("something_new"), "", ""},
		{nil, "", ""},
	} {
		for allowed, want := range map[bool]string{true: c.yes, false: c.no} {
			got := ""
			if s := answer(c.options, allowed).Selected; s != nil {
				got = string(s.OptionId)
			}
			if got != want {
				t.Errorf("%v, allowed %v: %q, want %q", c.options, allowed, got, want)
			}
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var tl tail
	for range 100 {
		io.WriteString(&tl, strings.Repeat("x", 1000))
	}
	io.WriteString(&tl, "the secret-word-5e1f77 "+strings.Repeat("y", shownTail-5))
	if len(tl.data) != keptTail {
		t.Errorf("%d bytes are kept", len(tl.data))
	}
	if got := tl.last(redact.New("secret-word-5e1f77")); len(got) != shownTail || strings.Contains(got, "word") {
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
}

func TestStreamLimitsLines(t *testing.T) {
	fits := `{"id":1,"result":"` + strings.Repeat("x", maxLine-20) + `"}`
	for name, c := range map[string]struct {
		in, out string
		err     error
	}{
		"longest line":      {fits + "\n", fits + "\n", io.EOF},
		"without an end":    {fits, fits, io.EOF},
		"one byte too long": {" " + fits + "\n", "", errLineTooLong},
		"an endless line":   {strings.Repeat("x", 3*maxLine), "", errLineTooLong},
		"nothing":           {"", "", io.EOF},
		"junk at the end":   {"bye", "", io.EOF},
	} {
		var junk tail
		s := newStream(strings.NewReader(c.in), func(json.RawMessage) {}, &junk)
		out, err := io.ReadAll(s)
		if string(out) != c.out || s.failed != c.err {
			t.Errorf("%s: %d bytes, %v, %v; want %d bytes and %v", name, len(out), err, s.failed, len(c.out), c.err)
		}
	}
}

// cut splits text at places that data chooses.
func cut(text string, data []byte) []string {
	var parts []string
	for _, n := range data {
		at := int(n) % (len(text) + 1)
		parts = append(parts, text[:at])
		text = text[at:]
	}
	return append(parts, text)
}

// However a JSON string is cut between its characters or inside one, the text is the same.
func FuzzPieces(f *testing.F) {
	f.Add("café 日本 😀", []byte{4, 2, 1})
	f.Add("\xff\xfe\xf0\x9f\x98", []byte{1, 1})
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		var want strings.Builder // as JSON reads the whole of it
		whole, err := unquote([]byte(escaped(text)))
		if err != nil {
			t.Fatal(err)
		}
		want.WriteString(whole)
		var p pieces
		var got strings.Builder
		for _, part := range cut(text, cuts) {
			piece, err := p.next(json.RawMessage(`"` + escaped(part) + `"`))
			if err != nil || !utf8.ValidString(piece) {
				t.Fatalf("piece %q of %q: %v", piece, part, err)
			}
			got.WriteString(piece)
		}
		got.WriteString(p.rest())
		if got.String() != want.String() {
			t.Errorf("%q, want %q", got.String(), want.String())
		}
	})
}

func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ':
			b.WriteString(`\u00` + string("01"[c>>4]) + string("0123456789abcdef"[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func TestPiecesOfEscapedSurrogates(t *testing.T) {
	for _, c := range []struct {
		chunks []string
		want   string
	}{
		{[]string{`a\ud83d`, `\ude00b`}, "a😀b"},
		{[]string{`\uD83D`, ``, `\uDE00`}, "😀"},
		{[]string{`\\ud83d`, `x`}, `\ud83dx`},
		{[]string{`\\\ud83d`, `\ude00`}, `\😀`},
		{[]string{`\ud83d`, `x`}, "\uFFFDx"},
		{[]string{`\ud83d`}, "\uFFFD"},
	} {
		var p pieces
		got := ""
		for _, chunk := range c.chunks {
			piece, err := p.next(json.RawMessage(`"` + chunk + `"`))
			if err != nil {
				t.Error(err)
			}
			got += piece
		}
		if got += p.rest(); got != c.want {
			t.Errorf("%q: %q, want %q", c.chunks, got, c.want)
		}
	}
}
