package room_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

func TestClampRounds(t *testing.T) {
	for n, want := range map[int]int{-1: 3, 0: 3, 1: 1, 2: 2, 10: 10, 11: 10, 1 << 40: 10} {
		if got := room.ClampRounds(n); got != want {
			t.Errorf("ClampRounds(%d) = %d, want %d", n, got, want)
		}
	}
}

// answers maps the letters of a script to outcomes: s speaks, p passes, f fails.
func answers(member string, letter byte) langrooms.Outcome {
	return langrooms.Outcome{Author: member, OK: letter != 'f', Silent: letter == 'p', Reply: "@c come here"}
}

// play runs a script of one string a round, one letter a member of that round, and
// returns who was asked, round by round, whether each was offered to pass, and the end.
func play(t *testing.T, to []string, cap int, script []string) (asked [][]string, offered [][]bool, reason langrooms.Reason) {
	t.Helper()
	run := room.NewRun(to, cap)
	for i, round := range script {
		if run.Round() != i+1 {
			t.Fatalf("round %d, want %d", run.Round(), i+1)
		}
		members := run.Members()
		if len(members) != len(round) {
			t.Fatalf("round %d has the members %v, the script has %q", i+1, members, round)
		}
		asked, offered = append(asked, members), append(offered, nil)
		for j, member := range members {
			offered[i] = append(offered[i], run.MultiRound())
			run = run.Record(answers(member, round[j]))
		}
		next, why, done := run.NextRound()
		if done {
			if i != len(script)-1 {
				t.Fatalf("ended after round %d as %s, the script goes on", i+1, why)
			}
			return asked, offered, why
		}
		run = next
	}
	t.Fatalf("not ended after %d rounds", len(script))
	return nil, nil, ""
}

// Spec 4.4: a message that speaks of passing itself.
func TestPassInTheMessage(t *testing.T) {
	for message, literal := range map[string]bool{
		"answer PASS or FAIL": true, "pass/fail?": true, "did it «Pass»?": true, "pass": true,
		"the password": false, "passes": false, "bypass": false, "pass_through": false, "": false,
	} {
		run := room.NewRun([]string{"a", "b"}, 3).About(message)
		if run.OffersPass() == literal {
			t.Errorf("%q: offers to pass: %t", message, run.OffersPass())
		}
		for _, name := range []string{"a", "b"} {
			run = run.Record(langrooms.Outcome{Author: name, OK: true, Reply: "PASS"})
		}
		if next, _, done := run.NextRound(); done || !next.OffersPass() {
			t.Errorf("%q: the second round is not as ever", message)
		}
	}
	if run := room.NewRun([]string{"a"}, 3).About("pass?"); run.OffersPass() {
		t.Error("one member is offered to pass")
	}
}

// A member that waits for input is out, and has spoken.
func TestPauseTakesAMemberOut(t *testing.T) {
	run := room.NewRun([]string{"a", "b", "c"}, 3).Record(langrooms.Outcome{Author: "a", OK: true, Reply: "⏸", Paused: true})
	run = run.Record(langrooms.Outcome{Author: "b", OK: true, Silent: true}).Record(langrooms.Outcome{Author: "c", OK: true, Silent: true})
	next, reason, done := run.NextRound()
	if want := []string{"b", "c"}; done || !slices.Equal(next.Members(), want) {
		t.Errorf("the next round is of %v (%s), want %v", next.Members(), reason, want)
	}
}

func TestRun(t *testing.T) {
	a, ab, abc := []string{"a"}, []string{"a", "b"}, []string{"a", "b", "c"}
	tests := []struct {
		name   string
		to     []string
		cap    int
		script []string
		reason langrooms.Reason
		asked  [][]string
	}{
		{"4.1 alone: one round whatever the cap", a, 10, []string{"s"}, langrooms.ReasonAnswered, [][]string{a}},
		{"4.1 alone and failed", a, 3, []string{"f"}, langrooms.ReasonAnswered, [][]string{a}},
		{"4.1 a cap of one", ab, 1, []string{"ss"}, langrooms.ReasonAnswered, [][]string{ab}},
		{"4.1 a cap of one, all failed", ab, 1, []string{"ff"}, langrooms.ReasonAnswered, [][]string{ab}},
		{"4.1 the default cap", ab, 0, []string{"ss", "ss", "ss"}, langrooms.ReasonCapped, [][]string{ab, ab, ab}},
		{"4.1 the same member twice is alone", []string{"a", "a"}, 3, []string{"s"}, langrooms.ReasonAnswered, [][]string{a}},
		{"4.2 nobody spoke", ab, 3, []string{"pp"}, langrooms.ReasonSettled, [][]string{ab}},
		{"4.2 settled later", ab, 3, []string{"ss", "pp"}, langrooms.ReasonSettled, [][]string{ab, ab}},
		{"4.2 one voice keeps it going", ab, 3, []string{"sp", "ps", "pp"}, langrooms.ReasonSettled, [][]string{ab, ab, ab}},
		{"4.2 settled in the last round is not capped", ab, 2, []string{"ss", "pp"}, langrooms.ReasonSettled, [][]string{ab, ab}},
		{"4.2 capped", ab, 2, []string{"ss", "sp"}, langrooms.ReasonCapped, [][]string{ab, ab}},
		{"4.2 nobody left", ab, 3, []string{"ff"}, langrooms.ReasonExhausted, [][]string{ab}},
		{"4.2 one left", ab, 3, []string{"fs"}, langrooms.ReasonExhausted, [][]string{ab}},
		{"4.2 exhausted before settled", ab, 3, []string{"fp"}, langrooms.ReasonExhausted, [][]string{ab}},
		{"4.2 exhausted before capped", ab, 2, []string{"ss", "sf"}, langrooms.ReasonExhausted, [][]string{ab, ab}},
		{"4.3 a failed member is out", abc, 3, []string{"sfs", "ss", "ss"}, langrooms.ReasonCapped, [][]string{abc, {"a", "c"}, {"a", "c"}}},
		{"4.3 out until one is left", abc, 5, []string{"sfs", "sf"}, langrooms.ReasonExhausted, [][]string{abc, {"a", "c"}}},
		{"4.3 a failure is not speaking", abc, 3, []string{"fpp"}, langrooms.ReasonSettled, [][]string{abc}},
		{"4.7 at most cap times members", abc, 99, []string{"sss", "sss", "sss", "sss", "sss", "sss", "sss", "sss", "sss", "sss"},
			langrooms.ReasonCapped, [][]string{abc, abc, abc, abc, abc, abc, abc, abc, abc, abc}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked, _, reason := play(t, tt.to, tt.cap, tt.script)
			if reason != tt.reason {
				t.Errorf("ended as %s, want %s", reason, tt.reason)
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// Spec 4.1 and 4.4: passing is offered only when a second round is possible.
func TestRunOffersToPass(t *testing.T) {
	tests := []struct {
		name   string
		to     []string
		cap    int
		script []string
		want   [][]bool
	}{
		{"alone", []string{"a"}, 3, []string{"s"}, [][]bool{{false}}},
		{"a cap of one", []string{"a", "b"}, 1, []string{"ss"}, [][]bool{{false, false}}},
		{"to the last round", []string{"a", "b"}, 2, []string{"ss", "ss"}, [][]bool{{true, true}, {true, true}}},
		{"not when one is left of the first round", []string{"a", "b"}, 3, []string{"fs"}, [][]bool{{true, false}}},
		{"while two are left", []string{"a", "b", "c"}, 3, []string{"fsp", "pp"}, [][]bool{{true, true, true}, {true, true}}},
		{"in a later round also to the last one left", []string{"a", "b"}, 3, []string{"ss", "fp"}, [][]bool{{true, true}, {true, true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, offered, _ := play(t, tt.to, tt.cap, tt.script)
			if diff := cmp.Diff(tt.want, offered); diff != "" {
				t.Errorf("offered (-want +got):\n%s", diff)
			}
		})
	}
}

// A Run is a value: what is done with a copy, or with what it returned, does not show in it.
func TestRunIsAValue(t *testing.T) {
	to := []string{"a", "b", "c"}
	run := room.NewRun(to, 3)
	to[0] = "x"
	run.Members()[1] = "x"
	one := run.Record(answers("a", 'f'))
	left, right := one.Record(answers("b", 'f')), one.Record(answers("c", 's'))
	if _, reason, _ := left.NextRound(); reason != langrooms.ReasonExhausted {
		t.Errorf("a and b failed: %q", reason)
	}
	next, _, done := right.NextRound()
	if diff := cmp.Diff([]string{"b", "c"}, next.Members()); done || diff != "" {
		t.Errorf("only a failed: done %t, members (-want +got):\n%s", done, diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, run.Members()); diff != "" {
		t.Errorf("the first plan changed (-want +got):\n%s", diff)
	}
}

// An outcome of somebody who is no member of the round changes nothing (spec 4.6).
func TestRunIgnoresStrangers(t *testing.T) {
	run := room.NewRun([]string{"a", "b"}, 3).Record(answers("c", 's')).Record(answers("d", 'f'))
	if _, reason, done := run.NextRound(); !done || reason != langrooms.ReasonSettled {
		t.Errorf("got %q, done %t", reason, done)
	}
	if _, reason, done := room.NewRun(nil, 3).NextRound(); !done || reason != langrooms.ReasonAnswered {
		t.Errorf("a run of nobody: %q, done %t", reason, done)
	}
}
