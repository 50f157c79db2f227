package room_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

func human(text string) langrooms.Message { return langrooms.NewMessage(langrooms.RoleHuman, text) }
func ai(text string) langrooms.Message    { return langrooms.NewMessage(langrooms.RoleAI, text) }

// Spec 2.1, 2.2: raw text, role human, the author in the stamp.
func TestNewAddress(t *testing.T) {
	to := []string{"proto", "reviewer"}
	m := room.NewAddress("operator", to, "x1", " what broke?\n", true)
	to[0] = "changed"
	want := &langrooms.Stamp{From: "operator", To: []string{"proto", "reviewer"}, Exchange: "x1", Incognito: true}
	if diff := cmp.Diff(want, m.Stamp); diff != "" {
		t.Errorf("stamp (-want +got):\n%s", diff)
	}
	if m.Role != langrooms.RoleHuman || m.Text() != " what broke?\n" || m.ID == "" || m.Time.IsZero() {
		t.Errorf("got %+v", m)
	}
}

func TestNewReply(t *testing.T) {
	m := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x1", Round: 2, Failed: true, Late: true,
		Incognito: true, Seen: 7}, "\n the build\xff \n")
	want := &langrooms.Stamp{From: "proto", Exchange: "x1", Round: 2, Failed: true, Late: true, Incognito: true, Seen: 7}
	if diff := cmp.Diff(want, m.Stamp); diff != "" {
		t.Errorf("stamp (-want +got):\n%s", diff)
	}
	if m.Role != langrooms.RoleHuman || m.Text() != "the build\uFFFD" {
		t.Errorf("role %s, text %q", m.Role, m.Text())
	}
}

func TestRecordTexts(t *testing.T) {
	for got, want := range map[string]string{
		room.FailedText(langrooms.ErrorUnreachable, "connection refused"):  "(could not be reached: connection refused)",
		room.FailedText(langrooms.ErrorUnreachable, " \n"):                 "(could not be reached: no cause was given)",
		room.FailedText(langrooms.ErrorStopped, "stopped by the operator"): "(stopped by the operator)",
		room.LateText(" done\n"):                                           "(This arrived after its turn.)\ndone",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
