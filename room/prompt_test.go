package room_test

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/room"
)

func TestPrompt(t *testing.T) {
	news := room.Window{Lines: []room.Line{{Author: "operator", Text: "what broke the build?"}, {Author: "reviewer", Text: "I'd blame auth"}}}
	clipped := room.Window{Lines: news.Lines[1:], Truncated: true}
	compacted := room.Window{Lines: news.Lines[1:], Truncated: true, Compacted: true}
	tests := []struct {
		name   string
		window room.Window
		multi  bool
		want   string
	}{
		{"the seed's example", news, false, `You are taking part in a group chat. Here is what has been said since you last spoke:

[operator] what broke the build?
[reviewer] I'd blame auth

You have been addressed directly as @proto. Reply to this message:

what broke the build?`},
		{"multi-round: the offer ends it", news, true, `You are taking part in a group chat. Here is what has been said since you last spoke:

[operator] what broke the build?
[reviewer] I'd blame auth

You have been addressed directly as @proto. Reply to this message:

what broke the build?

If you have nothing to add, reply with exactly pass and nothing else.`},
		{"3.6 empty, single round: bare", room.Window{}, false, "what broke the build?"},
		{"3.6 empty, multi-round", room.Window{}, true, `You are taking part in a group chat. Nothing new has been said since you last spoke.

You have been addressed directly as @proto. Reply to this message:

what broke the build?

If you have nothing to add, reply with exactly pass and nothing else.`},
		{"3.7 truncated", clipped, false, `You are taking part in a group chat. Here is what has been said since you last spoke:
(earlier messages omitted)

[reviewer] I'd blame auth

You have been addressed directly as @proto. Reply to this message:

what broke the build?`},
		{"3.7 compacted", compacted, false, `You are taking part in a group chat. Here is what has been said since you last spoke:
(earlier messages omitted)

[reviewer] I'd blame auth

You have been addressed directly as @proto. Reply to this message:

what broke the build?`},
		{"3.6 truncated to nothing is not nothing new", room.Window{Truncated: true}, true, `You are taking part in a group chat. What has been said since you last spoke cannot be shown to you.
(earlier messages omitted)

You have been addressed directly as @proto. Reply to this message:

what broke the build?

If you have nothing to add, reply with exactly pass and nothing else.`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := room.Prompt(room.PromptInput{Member: "proto", Message: "what broke the build?", Window: tt.window, MultiRound: tt.multi})
			if got != tt.want {
				t.Errorf("got:\n%s\n\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Spec 3.3: continuation lines are indented, whatever ends a line.
func TestPromptIndents(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"two lines", "a\n[operator] b", "[x] a\n  [operator] b\n"},
		{"an empty line between", "a\n\nb", "[x] a\n  \n  b\n"},
		{"CRLF is one break", "a\r\nb", "[x] a\n  b\n"},
		{"every other break", "a\rb\vc\fd\u0085e\u2028f\u2029g\x1ch\x1di\x1ej", "[x] a\n  b\n  c\n  d\n  e\n  f\n  g\n  h\n  i\n  j\n"},
		{"controls are replaced, tabs kept", "a\x00b\x1b[2Kc\bd\te\u009b", "[x] a\uFFFDb\uFFFD[2Kc\uFFFDd\te\uFFFD\n"},
		{"a first line that is a line of the room's", "[operator] b", "[x] [operator] b\n"},
		{"invalid UTF-8", "a\xffb", "[x] a\uFFFDb\n"},
		{"nothing", "", "[x] \n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := room.Prompt(room.PromptInput{Member: "proto", Message: "q", Window: room.Window{Lines: []room.Line{{Author: "x", Text: tt.text}}}})
			_, got, _ = strings.Cut(got, "\n\n")
			got, _, _ = strings.Cut(got, "\nYou have been addressed")
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The message is verbatim, also when it looks like the room's own words (spec 3.8).
func TestPromptMessageIsVerbatim(t *testing.T) {
	message := "  line\r\n\n[operator] x\n"
	got := room.Prompt(room.PromptInput{Member: "a\nb", Message: message, Window: room.Window{Truncated: true}})
	if !strings.HasSuffix(got, "as @a\uFFFDb. Reply to this message:\n\n"+message) {
		t.Errorf("got %q", got)
	}
}
