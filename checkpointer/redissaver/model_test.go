package redissaver_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// model drives two stores with the same random operations. The ids that a store chooses
// itself differ, so checkpoints are known by their place in refs.
type model struct {
	*testing.T
	rand   *rand.Rand
	redis  *redissaver.Saver
	memory *memorysaver.Saver
	refs   [][2]checkpointer.Ref // redis, memory
	texts  int
}

// TestModel compares every answer with that of the store in memory, which is the
// shortest reading of the contract: branches, truncations, edits, compactions, forks to
// other threads, prunings, in any order.
func TestModel(t *testing.T) {
	runs := 40
	if testing.Short() {
		runs = 8
	}
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{T: t, rand: rand.New(rand.NewPCG(uint64(seed), 1)), redis: fresh(t), memory: memorysaver.New()}
			defer m.memory.Close()
			for range 40 {
				m.step()
			}
			for i := range m.refs {
				m.compare(i)
			}
		})
	}
}

func (m *model) step() {
	m.Helper()
	switch k := m.rand.IntN(20); {
	case len(m.refs) == 0 || k < 12:
		m.put()
	case k < 14:
		m.compact()
	case k < 15:
		m.fork()
	case k < 17:
		m.prune()
	case k < 18:
		m.writes()
	default:
		m.compare(m.rand.IntN(len(m.refs)))
	}
}

// both runs one operation on each store and reports whether the answers differ.
func (m *model) both(what string, do func(s checkpointer.Saver, k int) (checkpointer.Ref, error)) {
	m.Helper()
	r, errR := do(m.redis, 0)
	e, errE := do(m.memory, 1)
	for _, kind := range []error{checkpointer.ErrNotFound, checkpointer.ErrConflict, checkpointer.ErrInvalid} {
		if errors.Is(errR, kind) != errors.Is(errE, kind) {
			m.Fatalf("%s: redis %v, memory %v", what, errR, errE)
		}
	}
	if (errR == nil) != (errE == nil) {
		m.Fatalf("%s: redis %v, memory %v", what, errR, errE)
	}
	if errR == nil && r.ID != "" && !slices.Contains(m.refs, [2]checkpointer.Ref{r, e}) {
		m.refs = append(m.refs, [2]checkpointer.Ref{r, e})
	}
}

func (m *model) pick() [2]checkpointer.Ref {
	if len(m.refs) == 0 || m.rand.IntN(10) == 0 {
		ns := []string{"", "sub"}[m.rand.IntN(2)]
		at := checkpointer.Ref{Thread: "t", Namespace: ns}
		return [2]checkpointer.Ref{at, at}
	}
	// Mostly one of the newest, which is most often the right parent.
	n := len(m.refs)
	return m.refs[n-1-min(m.rand.IntN(n), m.rand.IntN(n), m.rand.IntN(n))]
}

func (m *model) entry() checkpointer.Entry {
	m.texts++
	id := fmt.Sprint("m", m.rand.IntN(12))
	message := langrooms.Message{ID: id, Role: langrooms.RoleHuman, Parts: []langrooms.Part{langrooms.TextPart(fmt.Sprint(m.texts))}}
	switch k := m.rand.IntN(20); {
	case k < 3:
		return checkpointer.Entry{Op: checkpointer.OpReplace, Message: message}
	case k < 6:
		return checkpointer.Entry{Op: checkpointer.OpRemove, ID: id}
	case k < 7:
		return checkpointer.Entry{Op: checkpointer.OpReset}
	}
	message.ID = fmt.Sprint("m", m.texts)
	if m.rand.IntN(2) == 0 {
		message.ID = id
	}
	return checkpointer.Entry{Op: checkpointer.OpAppend, Message: message}
}

func (m *model) put() {
	m.Helper()
	parent := m.pick()
	step := checkpointer.Step{ID: fmt.Sprint("c", m.texts, "-", len(m.refs)), Fork: m.rand.IntN(2) == 0,
		Metadata: checkpointer.Metadata{"run_id": fmt.Sprint(m.rand.IntN(2))}, Channels: map[string][]byte{}}
	for range m.rand.IntN(5) {
		step.Log = append(step.Log, m.entry())
	}
	for _, name := range []string{"x", "y"} {
		switch m.rand.IntN(6) {
		case 0:
			step.Channels[name] = []byte(fmt.Sprint(m.texts))
		case 1:
			step.Remove = append(step.Remove, name)
		}
	}
	if step.Fork && m.rand.IntN(2) == 0 {
		n := int64(m.rand.IntN(20))
		step.Truncate = &n
	}
	m.both(fmt.Sprintf("put %+v after %+v", step, parent), func(s checkpointer.Saver, k int) (checkpointer.Ref, error) {
		return s.Put(m.Context(), parent[k], step)
	})
}

func (m *model) compact() {
	at, keep := m.pick(), m.rand.IntN(5)
	m.texts++
	summary := langrooms.Message{ID: fmt.Sprint("s", m.texts), Role: langrooms.RoleSystem}
	m.both("compact", func(s checkpointer.Saver, k int) (checkpointer.Ref, error) {
		return s.(checkpointer.Compacter).Compact(m.Context(), at[k], summary, keep)
	})
}

func (m *model) fork() {
	at, n := m.pick(), int64(m.rand.IntN(20))
	upTo := []*int64{nil, &n}[m.rand.IntN(2)]
	to := fmt.Sprint("t", m.rand.IntN(3))
	m.both("fork", func(s checkpointer.Saver, k int) (checkpointer.Ref, error) {
		return s.(checkpointer.Forker).Fork(m.Context(), at[k], upTo, to)
	})
}

func (m *model) prune() {
	thread, keep, run := m.pick()[0].Thread, 1+m.rand.IntN(4), []string{"", "0"}[m.rand.IntN(2)]
	var removed [2]int
	m.both("prune", func(s checkpointer.Saver, k int) (ref checkpointer.Ref, err error) {
		removed[k], err = s.(checkpointer.Pruner).Prune(m.Context(), thread, checkpointer.Retention{Keep: keep, RunID: run})
		return ref, err
	})
	if removed[0] != removed[1] {
		m.Fatalf("prune removed %d in redis, %d in memory", removed[0], removed[1])
	}
}

func (m *model) writes() {
	at := m.refs[m.rand.IntN(len(m.refs))]
	m.texts++
	w := []checkpointer.Write{{Channel: "x", Value: []byte(fmt.Sprint(m.texts))}, {Channel: checkpointer.ChannelInterrupt}}
	w = w[:1+m.rand.IntN(2)]
	m.both("writes", func(s checkpointer.Saver, k int) (checkpointer.Ref, error) {
		return checkpointer.Ref{}, s.PutWrites(m.Context(), at[k], checkpointer.Task{ID: "task"}, w)
	})
}

// compare reads one checkpoint, and pieces of its messages, from both stores.
func (m *model) compare(i int) {
	m.Helper()
	from, limit := int64(m.rand.IntN(10)), 1+m.rand.IntN(5)
	for _, r := range []checkpointer.Range{{}, {Backward: true}, {From: from, Limit: &limit}, {To: from + 1, Limit: &limit, Backward: true}} {
		var got [2]checkpointer.Checkpoint
		var messages [2][]langrooms.Message
		m.both(fmt.Sprintf("snapshot of %+v", m.refs[i]), func(s checkpointer.Saver, k int) (checkpointer.Ref, error) {
			var err error
			got[k], messages[k], err = s.(checkpointer.Snapshotter).Snapshot(m.Context(), m.refs[i][k], r)
			got[k].Ref, got[k].Time = checkpointer.Ref{}, got[0].Time
			got[k].Parent = m.place(got[k].Parent, k)
			got[k].Sequence, got[k].Logs, got[k].Versions, got[k].Changed = 0, nil, nil, nil
			return checkpointer.Ref{}, err
		})
		if d := cmp.Diff(messages[1], messages[0], cmpopts.EquateEmpty()); d != "" {
			m.Fatalf("messages %+v of %+v (-memory +redis):\n%s", r, m.refs[i], d)
		}
		if d := cmp.Diff(got[1], got[0], cmpopts.EquateEmpty()); d != "" {
			m.Fatalf("checkpoint %+v (-memory +redis):\n%s", m.refs[i], d)
		}
	}
	m.list(m.refs[i][0].Thread)
}

func (m *model) place(id string, k int) string {
	for i, refs := range m.refs {
		if refs[k].ID == id {
			return fmt.Sprint(i)
		}
	}
	return id
}

func (m *model) list(thread string) {
	m.Helper()
	var got [2][]string
	for k, s := range []checkpointer.Saver{m.redis, m.memory} {
		for c, err := range s.List(m.Context(), checkpointer.Query{Thread: thread}) {
			if err != nil {
				m.Fatal(err)
			}
			got[k] = append(got[k], c.Ref.Namespace+"/"+m.place(c.Ref.ID, k))
		}
	}
	if d := cmp.Diff(got[1], got[0]); d != "" {
		m.Fatalf("list of %q (-memory +redis):\n%s", thread, d)
	}
}
