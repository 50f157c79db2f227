package delegate

import (
	"slices"
	"strings"
	"testing"
)

func TestRegistryKeepsOrderAndRefusesASecondName(t *testing.T) {
	a, b := &fake{name: "proto"}, &fake{name: "Proto"}
	r := roster(t, a, b)
	if got := r.Names(); !slices.Equal(got, []string{"proto", "Proto"}) {
		t.Errorf("Names = %q", got)
	}
	if d, ok := r.Get("Proto"); !ok || d != b {
		t.Errorf("Get(Proto) = %v, %v; names are told apart exactly", d, ok)
	}
	if _, ok := r.Get("PROTO"); ok {
		t.Error("Get(PROTO) found something")
	}
	all := r.All()
	all[0] = nil
	if r.All()[0] != a {
		t.Error("All shares memory with its caller")
	}
	if _, err := NewRegistry(a, &fake{name: "proto"}); err == nil || !strings.Contains(err.Error(), `"proto"`) {
		t.Errorf("a second proto: %v", err)
	}
	if _, err := NewRegistry(&fake{name: "caf\u00e9"}, &fake{name: "Cafe\u0301"}); err == nil || !strings.Contains(err.Error(), "another spelling") {
		t.Errorf("two spellings of one name: %v", err)
	}
	if _, err := NewRegistry(a, nil); err == nil || !strings.Contains(err.Error(), "delegate 2 is nil") {
		t.Errorf("nil: %v", err)
	}
}

func TestNoRegistryIsAnEmptyRoster(t *testing.T) {
	for _, r := range []*Registry{nil, {}} {
		if _, ok := r.Get("x"); ok || len(r.Names())+len(r.All()) > 0 || r.holds(&fake{}) {
			t.Errorf("%v holds something", r)
		}
	}
}

func TestCheckName(t *testing.T) {
	good := []string{"proto", "claude-code", "Müller", "审阅", "a.b_c:d", "leader", "🤖"}
	for _, name := range good {
		if err := CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	bad := map[string]string{
		"": "empty", "a b": "white space", "a\tb": "white space", "a\nb": "white space", "a\u00a0b": "white space",
		"a@b": "@", "@a": "@", "a\x00b": "cannot be shown", "a\u202eb": "cannot be shown", "a\u200bb": "cannot be shown",
		"a\xffb": "cannot be shown", "operator": "reserved", "Assistant": "reserved", "LEAD": "reserved", "room": "reserved", "system": "reserved", "summary": "reserved",
		"assi\u017ftant": "looks like", "\u043eperator": "looks like", "ｌｅａｄ": "looks like",
	}
	for name, want := range bad {
		if err := CheckName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckName(%q) = %v, want %q", name, err, want)
		}
	}
}
