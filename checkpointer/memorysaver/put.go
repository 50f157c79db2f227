package memorysaver

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Put implements checkpointer.Saver.
func (s *Saver) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	return s.put(ctx, parent, step, func() {})
}

// put calls after, under the mutex, when the step is stored.
func (s *Saver) put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step, after func()) (checkpointer.Ref, error) {
	const op = "put"
	p, err := record.NewPut(parent, step)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, parent.Thread, err)
	}
	if step.ID == "" {
		step.ID = langrooms.NewID()
	}
	ref := checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: step.ID}
	err = s.write(ctx, op, parent.Thread, func(t *thread) error {
		if r := t.rows[place{ref.Namespace, ref.ID}]; r != nil {
			if bytes.Equal(r.digest, p.Digest) {
				after()
				return nil
			}
			return fmt.Errorf("checkpoint %q has other content: %w", ref.ID, checkpointer.ErrConflict)
		}
		before, err := t.parent(parent, step.Fork)
		if err != nil {
			return err
		}
		base := before
		if step.Base != "" {
			if base, err = t.find(checkpointer.Ref{Namespace: ref.Namespace, ID: step.Base}); err != nil {
				return err
			}
		}
		r := s.newRow(ref, before, base, step.Time)
		r.metadata, r.digest = p.Metadata, p.Digest
		r.setChannels(step)
		r.setLogs(step, p)
		t.add(r)
		after()
		return nil
	})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// parent returns the row that a put goes after, nil for a root.
func (t *thread) parent(ref checkpointer.Ref, fork bool) (*row, error) {
	newest := t.newest[ref.Namespace]
	before := newest
	if ref.ID != "" {
		var err error
		if before, err = t.find(ref); err != nil {
			return nil, err
		}
	} else if newest != nil {
		before = nil
	}
	if before != newest && !fork {
		return nil, fmt.Errorf("the newest checkpoint is %q, not %q: %w", newest.ref.ID, ref.ID, checkpointer.ErrConflict)
	}
	return before, nil
}

// newRow returns a row after parent with what base holds; either may be nil.
func (s *Saver) newRow(ref checkpointer.Ref, parent, base *row, when time.Time) *row {
	s.seq++
	r := &row{seq: s.seq, ref: ref, time: when, channels: map[string]value{}, logs: map[string]record.Position{}}
	if r.time.IsZero() {
		r.time = time.Now()
	}
	r.time = r.time.UTC()
	if parent != nil {
		r.parent = parent.ref.ID
	}
	if base != nil {
		maps.Copy(r.channels, base.channels)
		maps.Copy(r.logs, base.logs)
	}
	return r
}

func (r *row) setChannels(step checkpointer.Step) {
	for _, name := range step.Remove {
		if _, there := r.channels[name]; there {
			r.changed = append(r.changed, name)
			delete(r.channels, name)
		}
	}
	for name, data := range step.Channels {
		r.channels[name] = value{append([]byte{}, data...), r.seq}
		r.changed = append(r.changed, name)
	}
	slices.Sort(r.changed)
}

// setLogs goes on with every log that the step appends to or cuts.
func (r *row) setLogs(step checkpointer.Step, p record.Put) {
	change := func(name string, truncate *int64, entries []record.Entry) {
		at := r.logs[name]
		cut := truncate != nil && *truncate < at.Length
		if !cut && len(entries) == 0 {
			return
		}
		at = grown(branch(at, truncate), entries)
		at.Version = r.seq
		r.logs[name] = at
	}
	change(checkpointer.LogMessages, step.Truncate, p.Log)
	for name, entries := range p.Logs {
		change(name, cutOf(step, name), entries)
	}
	for name := range step.TruncateLogs {
		if len(p.Logs[name]) == 0 {
			change(name, cutOf(step, name), nil)
		}
	}
}

func cutOf(step checkpointer.Step, name string) *int64 {
	if n, ok := step.TruncateLogs[name]; ok {
		return &n
	}
	return nil
}

// PutWrites implements checkpointer.Saver.
func (s *Saver) PutWrites(ctx context.Context, at checkpointer.Ref, task checkpointer.Task, writes []checkpointer.Write) error {
	const op = "put writes"
	if err := record.CheckWrites(at, task, writes); err != nil {
		return record.Wrap(op, at.Thread, err)
	}
	return s.write(ctx, op, at.Thread, func(t *thread) error {
		p := place{at.Namespace, at.ID}
		if t.writes[p] == nil {
			t.writes[p] = map[spot]pending{}
		}
		if t.rows[p] == nil {
			t.orphans[p] = time.Now()
		}
		t.calls++
		for i, w := range writes {
			index, special := record.Index(i, w.Channel)
			where := spot{task.ID, index}
			if _, there := t.writes[p][where]; special || !there {
				w.Value = append([]byte{}, w.Value...)
				t.writes[p][where] = pending{task.Path, t.calls, w}
			}
		}
		return nil
	})
}
