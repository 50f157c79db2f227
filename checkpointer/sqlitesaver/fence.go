package sqlitesaver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// tombstone is how long the fence of a thread that is gone is remembered.
const tombstone = 24 * time.Hour

// checkFence compares the token in ctx with the thread's fence, which a newer one raises.
func checkFence(ctx context.Context, q *tx, thread string) error {
	token, ok := checkpointer.Fence(ctx, thread)
	if !ok {
		return nil
	}
	fence, err := fenceOf(q, thread)
	if err != nil {
		return err
	}
	if token < fence {
		return fmt.Errorf("token %d, the newest is %d: %w", token, fence, checkpointer.ErrFenced)
	}
	if token > fence {
		return setFence(q, thread, token)
	}
	// What is in use is not forgotten; an hour's step saves writing it with every put.
	now := time.Now()
	return q.exec("UPDATE leases SET expires = ? WHERE thread = ? AND owner = '' AND expires < ?",
		now.UnixMilli(), []byte(thread), now.Add(-time.Hour).UnixMilli())
}

// fenceOf returns the greatest token seen, 0 when there is none.
func fenceOf(q *tx, thread string) (fence int64, err error) {
	err = q.row("SELECT fence FROM leases WHERE thread = ?", []byte(thread)).Scan(&fence)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return fence, err
}

func setFence(q *tx, thread string, fence int64) error {
	return q.exec(`INSERT INTO leases (thread, fence, expires) VALUES (?1, ?2, ?3)
		ON CONFLICT (thread) DO UPDATE SET fence = ?2, expires = CASE owner WHEN '' THEN ?3 ELSE expires END`, []byte(thread), fence, time.Now().UnixMilli())
}

// newToken is greater than all that a thread has seen, also those that are forgotten.
func newToken(fence int64, now time.Time) int64 {
	return max(min(fence, math.MaxInt64-1)+1, now.UnixMilli())
}

// DeleteThread implements checkpointer.Saver. Without a fence in ctx it takes the lease
// from a holder.
func (s *Saver) DeleteThread(ctx context.Context, thread string) error {
	const op = "delete"
	if err := record.CheckThread(thread); err != nil {
		return record.Wrap(op, thread, err)
	}
	return s.write(ctx, op, thread, func(q *tx) error {
		now := time.Now()
		if _, fenced := checkpointer.Fence(ctx, thread); !fenced {
			fence, err := fenceOf(q, thread)
			if err != nil {
				return err
			}
			if err := setFence(q, thread, newToken(fence, now)); err != nil {
				return err
			}
			if err := q.exec("UPDATE leases SET owner = '', expires = ? WHERE thread = ?", now.UnixMilli(), []byte(thread)); err != nil {
				return err
			}
		}
		tid, err := findThread(q, thread)
		if err != nil || tid == 0 {
			return err
		}
		return removeThread(q, tid)
	})
}

// sweep removes some expired threads and the tombstones that nobody can need any more.
func sweep(q *tx, now time.Time) error {
	var expired []int64
	err := q.each(func(rows *sql.Rows) error {
		var tid int64
		err := rows.Scan(&tid)
		expired = append(expired, tid)
		return err
	}, "SELECT tid FROM threads WHERE expires <= ? LIMIT 10", now.UnixMilli())
	if err != nil {
		return err
	}
	for _, tid := range expired {
		if err := removeThread(q, tid); err != nil {
			return err
		}
	}
	if err := dropOrphans(q, now); err != nil {
		return err
	}
	return q.exec(`DELETE FROM leases WHERE owner = '' AND expires < ?
		AND NOT EXISTS (SELECT 1 FROM threads t WHERE t.thread = leases.thread)`, now.Add(-tombstone).UnixMilli())
}
