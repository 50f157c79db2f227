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
	const op = "put"
	if err := record.CheckPut(parent, step); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, parent.Thread, err)
	}
	log, err := record.Log(step.Log)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, parent.Thread, err)
	}
	digest := record.Digest(parent.ID, step, log)
	if step.ID == "" {
		step.ID = langrooms.NewID()
	}
	ref := checkpointer.Ref{Thread: parent.Thread, Namespace: parent.Namespace, ID: step.ID}
	err = s.write(ctx, op, parent.Thread, func(t *thread) error {
		if r := t.rows[place{ref.Namespace, ref.ID}]; r != nil {
			if bytes.Equal(r.digest, digest) {
				return nil
			}
			return fmt.Errorf("checkpoint %q has other content: %w", ref.ID, checkpointer.ErrConflict)
		}
		before, err := t.parent(parent, step.Fork)
		if err != nil {
			return err
		}
		r := s.newRow(ref, before, step)
		r.digest = digest
		r.log, r.length = branch(before, step.Truncate)
		r.log.append(log)
		r.length += int64(len(log))
		t.add(r)
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

// newRow returns the row of a step after parent, its log apart.
func (s *Saver) newRow(ref checkpointer.Ref, parent *row, step checkpointer.Step) *row {
	s.seq++
	r := &row{seq: s.seq, ref: ref, time: step.Time, metadata: maps.Clone(step.Metadata), channels: map[string][]byte{}}
	if r.time.IsZero() {
		r.time = time.Now()
	}
	r.time = r.time.UTC()
	if parent != nil {
		r.parent = parent.ref.ID
		maps.Copy(r.channels, parent.channels)
	}
	for name, value := range step.Channels {
		r.channels[name] = slices.Clone(value)
	}
	for _, name := range step.Remove {
		delete(r.channels, name)
	}
	return r
}

// PutWrites implements checkpointer.Saver.
func (s *Saver) PutWrites(ctx context.Context, at checkpointer.Ref, task string, writes []checkpointer.Write) error {
	const op = "put writes"
	if err := record.CheckWrites(at, task, writes); err != nil {
		return record.Wrap(op, at.Thread, err)
	}
	return s.write(ctx, op, at.Thread, func(t *thread) error {
		p := place{at.Namespace, at.ID}
		if t.writes[p] == nil {
			t.writes[p] = map[spot]checkpointer.Write{}
		}
		for i, w := range writes {
			index, special := record.Index(i, w.Channel)
			where := spot{task, index}
			if _, there := t.writes[p][where]; special || !there {
				t.writes[p][where] = checkpointer.Write{Channel: w.Channel, Value: slices.Clone(w.Value)}
			}
		}
		return nil
	})
}
