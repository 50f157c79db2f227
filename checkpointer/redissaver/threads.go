package redissaver

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/redis/go-redis/v9"
)

//go:embed lua/info.lua
var luaInfo string

//go:embed lua/mark.lua
var luaMark string

var (
	infoScript = script(luaLib, luaLog, luaInfo)
	markScript = script(luaLib, luaMark)
)

// fresh is how much newer a thread's put can be than its score in the index; it is
// FRESH in lua/lib.lua. indexPage is how many threads are looked at together.
const (
	fresh     = time.Minute
	indexPage = 100
)

// tell brings the index of threads up to date after a put, when the script asked for
// it: out is OK, what is due (0 nothing, 1 activity, 2 a new thread), the put's time. A
// put of a thread that the index does not know fails with the index; an activity that
// could not be written only makes the order of a listing a little older.
func (s *Saver) tell(ctx context.Context, op, thread string, out []any) error {
	r := &reply{items: out[1:]}
	due, at := r.int(), r.int()
	if r.bad {
		return record.Wrap(op, thread, malformed("a reply"))
	}
	if due == 0 {
		return nil
	}
	// The put has happened: its caller's context must not come between it and the index.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	_, err := s.guard(ctx, true, false, func(ctx context.Context) (any, error) {
		return s.client.ZAddGT(ctx, s.indexKey(), redis.Z{Score: float64(at), Member: thread}).Result()
	})
	if err != nil {
		err = record.Wrap(op, thread, fmt.Errorf("index of threads, key %q: %w", s.indexKey(), err))
	} else {
		_, err = s.eval(ctx, request{op: op, thread: thread, script: markScript, write: true,
			keys: s.threadKeys(thread), args: []any{at}})
	}
	if due == 2 {
		return err
	}
	return nil
}

// Threads implements [checkpointer.Lister].
func (s *Saver) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	return func(yield func(checkpointer.ThreadInfo, error) bool) {
		var waiting []checkpointer.ThreadInfo // read, but one further down may be newer
		var gone []redis.Z
		known := map[string]bool{}
		for start, more := int64(0), true; more; start += indexPage {
			members, err := s.indexed(ctx, start)
			if err == nil {
				var infos []checkpointer.ThreadInfo
				infos, gone, err = s.infos(ctx, members, known, gone)
				waiting = append(waiting, infos...)
			}
			if err != nil {
				yield(checkpointer.ThreadInfo{}, err)
				return
			}
			slices.SortStableFunc(waiting, func(a, b checkpointer.ThreadInfo) int { return b.Updated.Compare(a.Updated) })
			more = len(members) == indexPage
			for len(waiting) > 0 && (!more || waiting[0].Updated.After(scoreTime(members[len(members)-1]).Add(fresh))) {
				if !yield(waiting[0], nil) {
					return
				}
				waiting = waiting[1:]
			}
		}
		for _, z := range gone {
			// Best effort: the next listing meets it again.
			_ = s.unlist(ctx, "threads", z.Member.(string), int64(z.Score), true)
		}
	}
}

func scoreTime(z redis.Z) time.Time { return time.UnixMicro(int64(z.Score)).UTC() }

// indexed returns a page of the index, highest score first.
func (s *Saver) indexed(ctx context.Context, start int64) ([]redis.Z, error) {
	v, err := s.guard(ctx, false, false, func(ctx context.Context) (any, error) {
		return s.client.ZRevRangeWithScores(ctx, s.indexKey(), start, start+indexPage-1).Result()
	})
	if err != nil {
		return nil, fmt.Errorf("threads: %w", err)
	}
	return v.([]redis.Z), nil
}

// infos reads the threads of one page of the index in one pipeline; those that are gone
// are added to gone.
func (s *Saver) infos(ctx context.Context, members []redis.Z, known map[string]bool, gone []redis.Z) ([]checkpointer.ThreadInfo, []redis.Z, error) {
	members = slices.DeleteFunc(slices.Clone(members), func(z redis.Z) bool {
		thread := z.Member.(string)
		seen := known[thread]
		known[thread] = true
		return seen || record.CheckThread(thread) != nil
	})
	if len(members) == 0 {
		return nil, gone, nil
	}
	v, err := s.guard(ctx, false, false, func(ctx context.Context) (any, error) { return s.pipeInfos(ctx, members) })
	if err != nil {
		return nil, gone, fmt.Errorf("threads: %w", err)
	}
	var infos []checkpointer.ThreadInfo
	for i, out := range v.([]any) {
		thread := members[i].Member.(string)
		list, err := answer(out)
		if errors.Is(err, checkpointer.ErrNotFound) {
			gone = append(gone, members[i])
			continue
		}
		if err != nil {
			return nil, gone, record.Wrap("threads", thread, err)
		}
		r := &reply{items: list[1:]}
		info := checkpointer.ThreadInfo{Thread: thread, Updated: time.UnixMicro(r.int()).UTC(), Length: r.int()}
		if r.bad {
			return nil, gone, record.Wrap("threads", thread, malformed("the thread record"))
		}
		infos = append(infos, info)
	}
	return infos, gone, nil
}

func (s *Saver) pipeInfos(ctx context.Context, members []redis.Z) (any, error) {
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(members))
	for i, z := range members {
		cmds[i] = infoScript.EvalSha(ctx, pipe, s.threadKeys(z.Member.(string)))
	}
	_, pipeErr := pipe.Exec(ctx)
	out := make([]any, len(members))
	for i, cmd := range cmds {
		v, err := cmd.Result()
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			v, err = infoScript.Eval(ctx, s.client, s.threadKeys(members[i].Member.(string))).Result()
		}
		if err != nil {
			return nil, cmp.Or(err, pipeErr)
		}
		out[i] = v
	}
	return out, nil
}
