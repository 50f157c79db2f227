package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// The words of one process to the owner of a run.
const (
	wordCancel = "cancel"
	wordUndo   = "undo"
)

// controlNamespace is where a control thread keeps its words; its own lease guards the owner.
const controlNamespace = "words"

// The channels of the words.
const (
	wordChannel    = "word"
	whyChannel     = "why"     // of the word
	membersChannel = "members" // a list of halts, which grows
)

// halt names a member that is to be stopped, "" all that are asked, and why.
type halt struct {
	Member string         `json:"member"`
	Why    langrooms.Stop `json:"why"`
}

// askOwner tells the process that runs r to cancel it.
func (m *Manager) askOwner(ctx context.Context, r Run, undo bool, why langrooms.Stop) error {
	cause, err := json.Marshal(why)
	if err != nil {
		return err
	}
	word := wordCancel
	if undo {
		word = wordUndo
	}
	return m.tellOwner(ctx, r.ID, func(map[string][]byte) (map[string][]byte, error) {
		return map[string][]byte{wordChannel: []byte(word), whyChannel: cause}, nil
	})
}

// tries bounds how often a word is put where others put theirs at the same time.
const tries = 20

// tellOwner sets channels of a run's words; set is given those that stand there.
func (m *Manager) tellOwner(ctx context.Context, id string, set func(now map[string][]byte) (map[string][]byte, error)) error {
	at := checkpointer.Ref{Thread: controlThread(id), Namespace: controlNamespace}
	var taken error
	for range tries {
		cp, err := m.cfg.Saver.Get(ctx, at)
		if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
			return err
		}
		channels, err := set(cp.Channels)
		if err != nil {
			return err
		}
		head := at
		head.ID = cp.Ref.ID
		_, taken = m.cfg.Saver.Put(ctx, head, checkpointer.Step{ID: langrooms.NewID(), Channels: channels})
		if !errors.Is(taken, checkpointer.ErrConflict) {
			return taken
		}
	}
	return taken
}

// listen does to a job what other processes ask for, and ends with the job.
func (m *Manager) listen(j *job) {
	control := controlThread(j.run.ID)
	heard, halts := false, 0
	for range m.changes(j.ctx, control) {
		said := m.hear(j)
		heard = heard || said != nil
		halts = j.halt(said[membersChannel], halts)
	}
	<-j.done
	if heard {
		ctx, cancel := context.WithTimeout(context.Background(), storeBound)
		defer cancel()
		m.failed(m.cfg.Saver.DeleteThread(ctx, control))
	}
}

// hear returns what was said to the owner of j by now, nil for nothing, and cancels j where that
// was said.
func (m *Manager) hear(j *job) map[string][]byte {
	cp, err := m.cfg.Saver.Get(j.ctx, checkpointer.Ref{Thread: controlThread(j.run.ID), Namespace: controlNamespace})
	if err != nil {
		return nil // nothing was said, or it is said again
	}
	if word := string(cp.Channels[wordChannel]); word != "" {
		why := langrooms.Stop{Kind: langrooms.ErrorStopped}
		_ = json.Unmarshal(cp.Channels[whyChannel], &why) // another version may say less
		m.stop(j, word == wordUndo, why)
	}
	return cp.Channels
}

// halt stops the members of a list from its nth on, and returns how long the list is.
func (j *job) halt(list []byte, n int) int {
	var all []halt
	if json.Unmarshal(list, &all) != nil || len(all) < n {
		return n
	}
	for _, h := range all[n:] {
		j.steer.Stop(h.Member, h.Why)
	}
	return len(all)
}

// ErrNotAsked: the run is asking no such member at the moment.
var ErrNotAsked = errors.New("the run is not asking that member")

// maxHalts bounds the members that other processes stop in one run.
const maxHalts = 1000

// StopMember stops what a member is being asked in a live run, or with "" all that is being asked,
// wherever it runs; the run goes on. It does not wait. Of a run of this process [ErrNotAsked] says
// that nobody was stopped; another one is told, and nothing tells whether the member was at work. A
// run that has ended is [ErrNotAsked] too.
func (m *Manager) StopMember(ctx context.Context, thread, id, member string, why langrooms.Stop) error {
	m.mu.Lock()
	j, here := m.jobs[id]
	m.mu.Unlock()
	if here && j.thread == thread {
		if len(j.steer.Stop(member, why)) == 0 {
			return fmt.Errorf("%w: @%s in the run %s", ErrNotAsked, member, id)
		}
		return nil
	}
	r, err := m.Get(ctx, thread, id)
	if err != nil {
		return err
	}
	if !r.Status.Live() {
		return fmt.Errorf("%w: the run %s has ended", ErrNotAsked, id)
	}
	return m.tellOwner(ctx, id, func(now map[string][]byte) (map[string][]byte, error) {
		var all []halt
		_ = json.Unmarshal(now[membersChannel], &all) // nothing was said yet
		if len(all) >= maxHalts {
			return nil, fmt.Errorf("the run %s was told to stop %d members", id, len(all))
		}
		data, err := json.Marshal(append(all, halt{member, why}))
		return map[string][]byte{membersChannel: data}, err
	})
}
