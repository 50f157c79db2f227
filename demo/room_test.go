package demo

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// table is a room that is played with the policy of package room and the demo's brains.
type table struct {
	dir      string
	thread   []langrooms.Message
	memories map[string]*memory
}

func (r *table) put(m langrooms.Message) {
	m.Seq = int64(len(r.thread))
	r.thread = append(r.thread, m)
}

func (r *table) newestFirst() iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for _, m := range slices.Backward(r.thread) {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// address runs one address to its end and returns who spoke in which round.
func (r *table) address(t *testing.T, text string, to ...string) (script string, reason langrooms.Reason) {
	t.Helper()
	exchange := langrooms.NewID()
	r.put(room.NewAddress(langrooms.Operator, to, exchange, text, false))
	var said []string
	for run, done := room.NewRun(to, 0), false; !done; run, reason, done = run.NextRound() {
		for _, name := range run.Members() {
			reply := r.ask(t, run, name, exchange, text)
			silent := reply == pass
			if !silent {
				said = append(said, fmt.Sprintf("%d:%s", run.Round(), name))
			}
			run = run.Record(langrooms.Outcome{Author: name, OK: true, Silent: silent})
		}
	}
	return strings.Join(said, " "), reason
}

func (r *table) ask(t *testing.T, run room.Run, name, exchange, text string) string {
	t.Helper()
	window, err := room.ReadWindow(r.newestFirst(), room.WindowQuery{Member: name, Exchange: exchange})
	if err != nil {
		t.Fatal(err)
	}
	seen := int64(len(r.thread))
	in := room.PromptInput{Member: name, Message: text, Window: window, MultiRound: run.MultiRound()}
	if r.memories[name] == nil {
		r.memories[name] = &memory{}
	}
	s := situation{prompt: parsePrompt(room.Prompt(in)), dir: r.dir}
	reply, err := agents()[name].reply(context.Background(), s, r.memories[name])
	if err != nil {
		t.Fatal(err)
	}
	if reply != pass {
		r.put(room.NewReply(langrooms.Stamp{From: name, Exchange: exchange, Round: run.Round(), Seen: seen}, reply))
	}
	return reply
}

// The demo room: all speak in round 1, at most one reacts after that, and it settles.
func TestTheDemoRoomSettles(t *testing.T) {
	changed := func(t *testing.T, files map[string]string) string {
		dir := folder(t, map[string]string{"go.mod": goMod})
		commit(t, dir, "begin")
		write(t, dir, files)
		return dir
	}
	clean := func(t *testing.T, files map[string]string) string {
		dir := folder(t, files)
		commit(t, dir, "begin")
		return dir
	}
	// The same words again are a new address, and so are others.
	addresses := []string{"is it safe to ship?", "is it safe to ship?", "and now?"}
	always := func(script string) []string { return []string{script, script, script} }
	tests := []struct {
		name string
		dir  func(t *testing.T, files map[string]string) string
		to   []string
		want []string
	}{
		{"proto reacts to the changes", changed, []string{"proto", "reviewer"}, always("1:proto 1:reviewer 2:proto")},
		{"reviewer reacts to what broke", changed, []string{"reviewer", "proto"}, always("1:reviewer 1:proto 2:reviewer")},
		// Asked the same again after a pass, whoever comes first cannot tell the address from
		// a further round until the next one has spoken.
		{"nothing to react to", clean, []string{"proto", "reviewer"},
			[]string{"1:proto 1:reviewer", "1:reviewer 2:proto 2:reviewer", "1:proto 1:reviewer"}},
		{"the oracle never reacts", clean, []string{"oracle", "proto"},
			[]string{"1:oracle 1:proto", "1:proto 2:oracle", "1:oracle 1:proto"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &table{dir: tt.dir(t, broken), memories: make(map[string]*memory)}
			for i, words := range addresses {
				script, reason := r.address(t, words, tt.to...)
				if script != tt.want[i] || reason != langrooms.ReasonSettled {
					t.Errorf("address %d: spoke %q, %s; want %q, settled", i+1, script, reason, tt.want[i])
				}
			}
		})
	}
}

func TestASingleAddressIsAlwaysAnswered(t *testing.T) {
	r := &table{dir: folder(t, healthy), memories: make(map[string]*memory)}
	for range 3 {
		if script, _ := r.address(t, "what broke?", "proto"); script != "1:proto" {
			t.Errorf("spoke %q", script)
		}
	}
}
