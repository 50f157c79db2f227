package room_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/room"
)

var roster = []string{"proto", "reviewer", "claude-code"}

func addressed(message string, to ...string) room.Address {
	return room.Address{Kind: room.Addressed, To: to, Message: message}
}

func unknown(token, near string) room.Address {
	return room.Address{Kind: room.UnknownDelegate, Token: token, Near: near}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		roster []string
		want   room.Address
	}{
		// 1.1 where an address begins
		{"one", "@proto what broke the build?", roster, addressed("what broke the build?", "proto")},
		{"after white space", " \t\r\n\u3000@proto hi", roster, addressed("hi", "proto")},
		{"after a zero-width space", "\u200b@proto hi", roster, addressed("hi", "proto")},
		{"after a byte-order mark", "\ufeff @proto hi", roster, addressed("hi", "proto")},
		{"after marks of direction", "\u200f\u2067@proto \u200e@reviewer hi", roster, addressed("hi", "proto", "reviewer")},
		{"after fillers and selectors", "\u034f\ufe0f\u3164\u2800@proto hi", roster, addressed("hi", "proto")},
		{"an invisible character begins the message", "@proto \u200fhi", roster, addressed("\u200fhi", "proto")},
		{"an invisible message", "@proto \u200b", roster, room.Address{Kind: room.NoMessage, To: []string{"proto"}}},
		{"a lone @ with something invisible", "@\u200b hi", roster, room.Address{}},
		{"in the middle it is prose", "ask @proto hi", roster, room.Address{}},
		{"a lone @", "@", roster, room.Address{}},
		{"a lone @ and a word", "@ proto hi", roster, room.Address{}},
		{"empty", "", roster, room.Address{}},
		{"white space only", " \n\t ", roster, room.Address{}},
		{"no address", "hello", roster, room.Address{}},
		{"a token ends at any white space", "@proto\u2028hi", roster, addressed("hi", "proto")},
		{"two names in one token are one token", "@proto@reviewer hi", roster, unknown("@proto@reviewer", "")},

		// 1.2 resolving
		{"case folded", "@PROTO hi", roster, addressed("hi", "proto")},
		{"full folding", "@STRASSE hi", []string{"Straße"}, addressed("hi", "Straße")},
		{"decomposed", "@cafe\u0301 hi", []string{"caf\u00e9"}, addressed("hi", "caf\u00e9")},
		{"composed and upper case", "@CAF\u00c9 hi", []string{"cafe\u0301"}, addressed("hi", "cafe\u0301")},
		{"full width", "@ｐｒｏｔｏ hi", roster, addressed("hi", "proto")},
		{"something invisible in the token", "@pro\u200bto\u200b, hi", roster, addressed("hi", "proto")},
		{"a heart with and without its selector", "@❤ hi", []string{"❤\ufe0f"}, addressed("hi", "❤\ufe0f")},
		{"final sigma", "@ΛΟΓΟΣ hi", []string{"λόγος", "λογος"}, addressed("hi", "λογος")},
		{"exact before folded", "@Proto hi", []string{"proto", "Proto"}, addressed("hi", "Proto")},
		{"two fold alike", "@PROTO hi", []string{"proto", "Proto"}, unknown("@PROTO", "proto")},
		{"the same name twice is one name", "@PROTO hi", []string{"proto", "proto"}, addressed("hi", "proto")},
		{"trailing comma", "@proto, what broke?", roster, addressed("what broke?", "proto")},
		{"trailing marks", "@proto?!.. hi", roster, addressed("hi", "proto")},
		{"folded and trailing", "@Proto: hi", roster, addressed("hi", "proto")},
		{"a name that ends in a mark", "@yahoo! hi", []string{"yahoo", "yahoo!"}, addressed("hi", "yahoo!")},
		{"such a name and a mark", "@yahoo!, hi", []string{"yahoo", "yahoo!"}, addressed("hi", "yahoo!")},
		{"other trailing marks stay", "@proto) hi", roster, unknown("@proto)", "proto")},
		{"a full-width mark stays", "@proto， hi", roster, unknown("@proto，", "proto")},
		{"punctuation alone", "@... hi", roster, unknown("@...", "")},
		{"a prefix is no name", "@pro hi", roster, unknown("@pro", "proto")},
		{"a name with an @ inside", "@a@b hi", []string{"a@b"}, addressed("hi", "a@b")},

		// 1.3 the run of tokens
		{"two", "@proto @reviewer fix it", roster, addressed("fix it", "proto", "reviewer")},
		{"written order", "@reviewer @proto fix it", roster, addressed("fix it", "reviewer", "proto")},
		{"two with commas", "@proto, @reviewer: fix it", roster, addressed("fix it", "proto", "reviewer")},
		{"the first unknown token begins the message", "@proto @nope hi", roster, addressed("@nope hi", "proto")},
		{"what follows it is prose", "@proto @nope @reviewer hi", roster, addressed("@nope @reviewer hi", "proto")},
		{"a lone @ begins the message", "@proto @ hi", roster, addressed("@ hi", "proto")},
		{"a later @ is prose", "@proto ask @reviewer", roster, addressed("ask @reviewer", "proto")},
		{"repeats collapse to the first place", "@proto @reviewer @PROTO hi", roster, addressed("hi", "proto", "reviewer")},
		{"line breaks survive", "@proto\nfirst\n\n  second\n", roster, addressed("first\n\n  second\n", "proto")},
		{"a run over lines", "@proto\n@reviewer\nhi", roster, addressed("hi", "proto", "reviewer")},
		{"invalid UTF-8 in the message", "@proto \xff", roster, addressed("\xff", "proto")},

		// 1.4 nobody
		{"unknown", "@prto hi", roster, unknown("@prto", "proto")},
		{"unknown as typed", "@Prto, hi", roster, unknown("@Prto,", "proto")},
		{"nothing close", "@nobody hi", roster, unknown("@nobody", "")},
		{"distance 2", "@prt hi", roster, unknown("@prt", "proto")},
		{"distance 3", "@prx hi", roster, unknown("@prx", "")},
		{"transposed", "@porto hi", roster, unknown("@porto", "proto")},
		{"the closest", "@aab hi", []string{"abb", "aabb"}, unknown("@aab", "abb")},
		{"closer wins over earlier", "@claude hi", []string{"clade1", "claude2"}, unknown("@claude", "claude2")},
		{"empty roster", "@proto hi", nil, room.Address{}},
		{"a roster of an empty name", "@ hi", []string{""}, room.Address{}},

		// 1.5 nothing to say
		{"no message", "@proto", roster, room.Address{Kind: room.NoMessage, To: []string{"proto"}}},
		{"white space for a message", "@proto @reviewer \n\t", roster, room.Address{Kind: room.NoMessage, To: []string{"proto", "reviewer"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, room.Parse(tt.text, tt.roster)); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// A million characters that look like addresses are read in one pass.
func TestParseLongTexts(t *testing.T) {
	long := strings.Repeat("@proto, ", 125_000)
	if got := room.Parse(long, roster); got.Kind != room.NoMessage || len(got.To) != 1 {
		t.Errorf("a long run: %v, %d addressees", got.Kind, len(got.To))
	}
	token := "@" + strings.Repeat("ß,", 500_000)
	if got := room.Parse(token, roster); got.Kind != room.UnknownDelegate || got.Near != "" {
		t.Errorf("a long token: %v, near %q", got.Kind, got.Near)
	}
	if got := room.Parse("@proto"+strings.Repeat("!", 500_000)+" hi", roster); got.Message != "hi" {
		t.Errorf("a long tail of marks: %v", got.Kind)
	}
}

func TestUnknownText(t *testing.T) {
	const line = "Unknown or unreachable delegate: @prto. Available: proto, reviewer, claude-code."
	if got := room.UnknownText("@prto", roster, ""); got != line {
		t.Errorf("got %q, want %q", got, line)
	}
	if got, want := room.UnknownText("@prto", roster, "proto"), line+"\nDid you mean @proto?"; got != want {
		t.Errorf("with a near name: got %q, want %q", got, want)
	}
	// Spec 1.6: the roster can have become empty.
	if got, want := room.UnknownText("@proto", nil, ""), "Unknown or unreachable delegate: @proto. Available: none."; got != want {
		t.Errorf("empty roster: got %q, want %q", got, want)
	}
	hostile := room.UnknownText("@a\x1b[2J\u202e\r"+strings.Repeat("b", 10_000), roster, "")
	if strings.ContainsAny(hostile, "\x1b\u202e\r") || len(hostile) > 1000 {
		t.Errorf("the token is not made safe: %q", hostile)
	}
}

func TestUsageText(t *testing.T) {
	got := room.UsageText([]string{"proto", "reviewer"}, "")
	if !strings.Contains(got, "@proto, @reviewer") || strings.Contains(got, "\n") {
		t.Errorf("the hint does not name the addressees on one line: %q", got)
	}
	if got := room.UsageText(nil, ""); !strings.Contains(got, "@name") {
		t.Errorf("without addressees: %q", got)
	}
}

func TestComplete(t *testing.T) {
	tests := []struct {
		name, prefix string
		roster       []string
		want         []string
	}{
		{"all, in roster order", "@", roster, roster},
		{"by prefix", "@cl", roster, []string{"claude-code"}},
		{"case folded", "@RE", roster, []string{"reviewer"}},
		{"a whole name", "@proto", roster, []string{"proto"}},
		{"nothing fits", "@x", roster, nil},
		{"no @", "pro", roster, nil},
		{"prose before", "hello @pro", roster, nil},
		{"after an addressee", "@proto @re", roster, []string{"reviewer"}},
		{"after white space", "  @re", roster, []string{"reviewer"}},
		{"not one already addressed", "@proto @", roster, []string{"reviewer", "claude-code"}},
		{"after an unknown name", "@nope @re", roster, nil},
		{"after a message", "@proto hi @re", roster, nil},
		{"finished", "@proto ", roster, nil},
		{"empty", "", roster, nil},
		{"names that fold alike can be spelt exactly", "@p", []string{"proto", "Proto"}, []string{"proto", "Proto"}},
		{"never a name with white space", "@p", []string{"pro to", "proto"}, []string{"proto"}},
		{"never an empty name", "@", []string{"", "a"}, []string{"a"}},
		{"a repeated name once", "@", []string{"a", "a"}, []string{"a"}},
		{"empty roster", "@", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, room.Complete(tt.prefix, tt.roster)); diff != "" {
				t.Errorf("Complete(%q) (-want +got):\n%s", tt.prefix, diff)
			}
		})
	}
}

// Whatever is typed: the message is the end of the text, the addressees are on the
// roster, and what Complete offers resolves to itself (spec 1.3, 1.7).
func FuzzParse(f *testing.F) {
	for _, text := range []string{"@proto hi", "@Proto, @reviewer\n x", "@prto", "@", " @ß @SS: y", "@proto\xff @"} {
		f.Add(text, "proto reviewer claude-code")
		f.Add(text, "ß ss PROTO proto a! a")
	}
	f.Fuzz(func(t *testing.T, text, names string) {
		roster := strings.Split(names, " ")
		a := room.Parse(text, roster)
		if !strings.HasSuffix(text, a.Message) {
			t.Errorf("the message %q is no suffix of %q", a.Message, text)
		}
		for i, name := range a.To {
			if !slices.Contains(roster, name) || slices.Contains(a.To[:i], name) {
				t.Errorf("addressee %q of %q: not on the roster, or twice", name, text)
			}
		}
		rest := strings.TrimLeftFunc(text, unicode.IsSpace)
		wellFormed := map[room.AddressKind]bool{
			room.NotAddressed:    len(a.To) == 0 && a.Message == "" && a.Token == "",
			room.Addressed:       len(a.To) > 0 && a.Message != "" && a.Token == "",
			room.UnknownDelegate: len(a.To) == 0 && a.Message == "" && strings.HasPrefix(rest, a.Token) && len(a.Token) > 1,
			room.NoMessage:       len(a.To) > 0 && a.Message == "" && a.Token == "",
		}
		if !wellFormed[a.Kind] {
			t.Errorf("Parse(%q) = %+v", text, a)
		}
		for _, offer := range room.Complete(text, roster) {
			if b := room.Parse("@"+offer+" x", roster); !slices.Equal(b.To, []string{offer}) || b.Message != "x" {
				t.Errorf("%q is offered but resolves to %+v", offer, b)
			}
		}
		room.UnknownText(a.Token, roster, a.Near)
	})
}
