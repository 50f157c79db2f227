package sharedsession_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/sharedsession"
)

// The grammar of a mention (spec 4.1).
func TestMentions(t *testing.T) {
	names := []string{"data", "data.scout", "Proto", "proto-2", "Éva", "x", "X"}
	tests := []struct{ text, found, unresolved string }{
		{"no mention", "", ""},
		{"@data", "data", ""},
		{"hello @data, and @data again", "data", ""},
		{"@data.scout.", "data.scout", ""},
		{"@data.", "data", ""},
		{"(@data)", "data", ""},
		{"@data's", "data", ""},
		{"mail@data.example", "", ""},
		{"_@data 5@data é@data", "", ""},
		{"@databank", "", "databank"},
		{"@data_", "", "data_"},
		{"@proto", "Proto", ""},
		{"@PROTO-2!", "proto-2", ""},
		{"@éVA?", "Éva", ""},
		{"@x @X", "x X", ""},
		{"@nobody and @also.none.", "", "nobody also.none"},
		{"@all", "", "all"},
		{"@ data", "", ""},
		{"`@data`", "", ""},
		{"``a ` @data`` @x", "x", ""},
		{"an open ` @data", "data", ""},
		{"```\n@data\n```\n@x", "x", ""},
		{"~~~\n@data\n```\n@data\n~~~\n@x", "x", ""},
		{"```\n@data", "", ""},
		{"see https://example.org/@data, @x", "x", ""},
		{"[@x](https://example.org/@data)", "x", ""},
		{"[text](/a(b)/@data) @x", "x", ""},
		{"@@data", "data", ""},
		{"line\n@data", "data", ""},
		{"@E\u0301va and @e\u0301VA", "Éva", ""},
		{"@pro\u200bto, @\uff50roto", "Proto", ""},
		{"@data\u200b. \u200b@x", "data x", ""},
		{"@data\u00adbank", "", "data\u00adbank"},
		{"mail\u200b@data", "", ""},
	}
	for _, tt := range tests {
		found, unresolved := sharedsession.Mentions(tt.text, names)
		if got := strings.Join(found, " "); got != tt.found {
			t.Errorf("%q mentions %q, want %q", tt.text, got, tt.found)
		}
		if got := strings.Join(unresolved, " "); got != tt.unresolved {
			t.Errorf("%q leaves %q unresolved, want %q", tt.text, got, tt.unresolved)
		}
	}
}

func TestResolve(t *testing.T) {
	found, unresolved := sharedsession.Resolve([]string{"@Data", "data", "ghost", ""}, []string{"data"})
	if diff := cmp.Diff([]string{"data"}, found); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ghost"}, unresolved); diff != "" {
		t.Error(diff)
	}
}

func FuzzMentions(f *testing.F) {
	for _, text := range []string{"@data", "`@data", "```\n@x\n```", "](@data)", "https://@x", "@\xff", "é@x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, _ := sharedsession.Mentions(text, []string{"data", "x", "Éva"})
		for _, name := range found {
			if name != "data" && name != "x" && name != "Éva" {
				t.Errorf("%q names %q", text, name)
			}
		}
	})
}
