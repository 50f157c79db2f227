package redissaver

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
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
// FRESH in lua/lib.lua. indexPage is how many threads are looked at together, and probe
// how many are looked at when a new thread is added.
const (
	fresh     = time.Minute
	indexPage = 100
	probe     = 4
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
	v, err := s.guard(ctx, true, false, func(ctx context.Context) (any, error) {
		pipe := s.client.Pipeline()
		added := pipe.ZAddGT(ctx, s.indexKey(), redis.Z{Score: float64(at), Member: thread})
		some := pipe.ZRandMemberWithScores(ctx, s.indexKey(), probe)
		_, _ = pipe.Exec(ctx)
		return some.Val(), added.Err()
	})
	if err != nil {
		err = record.Wrap(op, thread, fmt.Errorf("index of threads, key %q: %w", s.indexKey(), err))
	} else {
		_, err = s.eval(ctx, request{op: op, thread: thread, script: markScript, write: true,
			keys: s.threadKeys(thread), args: []any{at}})
	}
	if due == 2 {
		if some, ok := v.([]redis.Z); ok && err == nil {
			s.tidy(ctx, some)
		}
		return err
	}
	return nil
}

// tidy takes those of the members out of the index whose threads have expired. Each new
// thread looks at some at random, so that the index stays near the number of threads that
// there are, also when nobody ever reads it to its end. Best effort.
func (s *Saver) tidy(ctx context.Context, members []redis.Z) {
	v, err := s.guard(ctx, false, false, func(ctx context.Context) (any, error) {
		pipe := s.client.Pipeline()
		there := make([]*redis.IntCmd, len(members))
		for i, z := range members {
			there[i] = pipe.Exists(ctx, s.threadKeys(z.Member.(string))[0])
		}
		_, err := pipe.Exec(ctx)
		return there, err
	})
	if err != nil {
		return
	}
	for i, cmd := range v.([]*redis.IntCmd) {
		if cmd.Val() == 0 {
			_ = s.unlist(ctx, "threads", members[i].Member.(string), int64(members[i].Score), true)
		}
	}
}

// Threads implements [checkpointer.Lister].
func (s *Saver) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	return func(yield func(checkpointer.ThreadInfo, error) bool) {
		l := &threadList{saver: s, known: map[string]bool{}, from: math.Inf(1)}
		defer func() {
			for _, z := range l.gone { // best effort: the next listing meets it again
				_ = s.unlist(ctx, "threads", z.Member.(string), int64(z.Score), true)
			}
		}()
		for !l.done {
			if err := l.read(ctx); err != nil {
				yield(checkpointer.ThreadInfo{}, err)
				return
			}
			for len(l.waiting) > 0 && (l.done || l.waiting[0].Updated.After(scoreTime(l.from).Add(fresh))) {
				if !yield(l.waiting[0], nil) {
					return
				}
				l.waiting = l.waiting[1:]
			}
		}
	}
}

// threadList is a listing under way. It goes down the index by score, never by rank, so
// that a thread which is deleted meanwhile moves no other out of sight.
type threadList struct {
	saver   *Saver
	known   map[string]bool
	waiting []checkpointer.ThreadInfo // read, but one further down may be newer
	gone    []redis.Z
	from    float64 // the score to go on at
	at      int64   // how many of that score were read
	first   float64 // the highest score of the first page
	pages   int
	done    bool
}

func scoreTime(score float64) time.Time { return time.UnixMicro(int64(score)).UTC() }

// read takes one page of the index to waiting. After the last one it looks once more at
// those that have moved to the front meanwhile.
func (l *threadList) read(ctx context.Context) error {
	members, err := l.saver.indexed(ctx, "-inf", l.from, indexPage+l.at)
	if err != nil {
		return err
	}
	if l.pages == 0 && len(members) > 0 {
		l.first = members[0].Score
	}
	l.pages++
	l.done = int64(len(members)) < indexPage+l.at
	if n := len(members); n > 0 {
		l.from, l.at = members[n-1].Score, 0
		for _, z := range members {
			if z.Score == l.from {
				l.at++
			}
		}
	}
	if l.done && l.pages > 1 {
		moved, err := l.saver.indexed(ctx, "("+strconv.FormatFloat(l.first, 'f', -1, 64), math.Inf(1), -1)
		if err != nil {
			return err
		}
		members = append(members, moved...)
	}
	if err := l.take(ctx, members); err != nil {
		return err
	}
	slices.SortStableFunc(l.waiting, func(a, b checkpointer.ThreadInfo) int { return b.Updated.Compare(a.Updated) })
	return nil
}

// indexed returns members of the index, highest score first, from max down to min.
func (s *Saver) indexed(ctx context.Context, min string, max float64, count int64) ([]redis.Z, error) {
	most := "+inf"
	if !math.IsInf(max, 1) {
		most = strconv.FormatFloat(max, 'f', -1, 64)
	}
	v, err := s.guard(ctx, false, false, func(ctx context.Context) (any, error) {
		return s.client.ZRevRangeByScoreWithScores(ctx, s.indexKey(), &redis.ZRangeBy{Min: min, Max: most, Count: count}).Result()
	})
	if err != nil {
		return nil, fmt.Errorf("threads: %w", err)
	}
	return v.([]redis.Z), nil
}

// take reads the threads that are not known yet in one pipeline. Those that are gone are
// left to be taken out of the index; one that cannot be read is listed as such, at the
// time of its last put that the index knows.
func (l *threadList) take(ctx context.Context, members []redis.Z) error {
	members = slices.DeleteFunc(slices.Clone(members), func(z redis.Z) bool {
		thread := z.Member.(string)
		seen := l.known[thread]
		l.known[thread] = true
		return seen || record.CheckThread(thread) != nil
	})
	if len(members) == 0 {
		return nil
	}
	v, err := l.saver.guard(ctx, false, false, func(ctx context.Context) (any, error) { return l.saver.pipeInfos(ctx, members) })
	if err != nil {
		return fmt.Errorf("threads: %w", err)
	}
	for i, out := range v.([]any) {
		info := checkpointer.ThreadInfo{Thread: members[i].Member.(string), Updated: scoreTime(members[i].Score)}
		list, err := answer(out)
		if errors.Is(err, checkpointer.ErrNotFound) {
			l.gone = append(l.gone, members[i])
			continue
		}
		if err == nil {
			r := &reply{items: list[1:]}
			info.Updated, info.Length = time.UnixMicro(r.int()).UTC(), r.int()
			if r.bad {
				err = malformed("the thread record")
			}
		}
		if err != nil && !errors.Is(err, checkpointer.ErrFormat) {
			return record.Wrap("threads", info.Thread, err)
		}
		info.Err = record.Wrap("threads", info.Thread, err)
		l.waiting = append(l.waiting, info)
	}
	return nil
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
