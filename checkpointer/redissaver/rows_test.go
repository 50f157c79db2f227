package redissaver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// atRange calls do before each reading of a range of a sorted set.
type atRange struct {
	n  int
	do func(n int)
}

func (h *atRange) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *atRange) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h *atRange) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "zrevrange") {
			h.n++
			h.do(h.n)
		}
		return next(ctx, cmd)
	}
}

// Threads that others delete, or put to, between two pages of a listing hide no thread
// that is there all the time.
func TestListingWhileThreadsComeAndGo(t *testing.T) {
	prefix := nextPrefix()
	s := open(t, sharedAddr(t), "prefix="+prefix)
	old := redis.Z{Score: float64(time.Now().Add(-time.Hour).UnixMicro())}
	c := client(t, sharedAddr(t))
	refs := map[string]checkpointer.Ref{}
	for i := range 250 {
		thread := fmt.Sprintf("t%03d", i)
		ref, err := s.Put(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Step{})
		if err != nil {
			t.Fatal(err)
		}
		refs[thread] = ref
	}
	// One that the index knows from an hour ago, and so lists last.
	old.Member = "t000"
	c.ZAdd(t.Context(), redissaver.IndexKey(s), old)
	setRecord(t, c, redissaver.ThreadKeys(s, "t000")[record], recordTold, int64(old.Score))
	hooked := client(t, sharedAddr(t))
	hooked.AddHook(&atRange{do: func(n int) {
		if n != 2 {
			return
		}
		for i := 249; i > 189; i-- {
			if err := s.DeleteThread(t.Context(), fmt.Sprintf("t%03d", i)); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Put(t.Context(), refs["t000"], checkpointer.Step{}); err != nil {
			t.Error(err)
		}
	}})
	lister, err := redissaver.New(hooked, redissaver.Config{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	defer lister.Close()
	seen := map[string]int{}
	for info, err := range lister.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[info.Thread]++
	}
	for i := range 190 {
		if thread := fmt.Sprintf("t%03d", i); seen[thread] != 1 {
			t.Errorf("thread %s was listed %d times", thread, seen[thread])
		}
	}
}

// Threads whose puts fell on one moment are each listed once, also where a page ends among them.
func TestListingOfOneMoment(t *testing.T) {
	s, c := fresh(t), client(t, sharedAddr(t))
	const many = 250
	at := float64(time.Now().UnixMicro())
	for i := range many {
		thread := fmt.Sprintf("t%03d", i)
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Step{}); err != nil {
			t.Fatal(err)
		}
		if err := c.ZAddXX(t.Context(), redissaver.IndexKey(s), redis.Z{Score: at, Member: thread}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for info, err := range s.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[info.Thread]++
	}
	for i := range many {
		if thread := fmt.Sprintf("t%03d", i); seen[thread] != 1 {
			t.Errorf("thread %s was listed %d times", thread, seen[thread])
		}
	}
}

// A thread that cannot be read is listed with the reason, among the others, and can be
// deleted.
func TestDamagedThreadIsListed(t *testing.T) {
	s, c := fresh(t), client(t, sharedAddr(t))
	for _, thread := range []string{"sound", "newer", "evicted"} {
		grow(t, s, thread, 1)
	}
	c.HSet(t.Context(), redissaver.ThreadKeys(s, "newer")[record], "p", "\x91\x09", "v", "9")
	c.Del(t.Context(), redissaver.ThreadKeys(s, "evicted")[rows])
	listed := map[string]error{}
	for info, err := range s.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		listed[info.Thread] = info.Err
	}
	if len(listed) != 3 || listed["sound"] != nil || !errors.Is(listed["newer"], checkpointer.ErrFormat) || !errors.Is(listed["evicted"], checkpointer.ErrFormat) {
		t.Errorf("listed: %v", listed)
	}
	for thread := range listed {
		if err := s.DeleteThread(t.Context(), thread); err != nil {
			t.Error(err)
		}
	}
	if err := drain(s.Threads(t.Context()), 0); err != nil {
		t.Error(err)
	}
}

// The index does not keep what has expired, although no listing is ever read to its end.
func TestIndexIsTidied(t *testing.T) {
	s, c := fresh(t, "ttl=50ms"), client(t, sharedAddr(t))
	for i := range 400 {
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: fmt.Sprint("t", i)}, checkpointer.Step{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.ZCard(t.Context(), redissaver.IndexKey(s)).Val(); n > 250 {
		t.Errorf("the index holds %d of 400 threads that have expired", n)
	}
	if err := redistest.Eventually(5*time.Second, func() error { // until the last of them has expired
		if c.Exists(t.Context(), redissaver.ThreadKeys(s, "t399")[record]).Val() != 0 {
			return errors.New("still there")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	lasting := open(t, sharedAddr(t), "prefix="+strings.TrimSuffix(redissaver.IndexKey(s), "threads"))
	grow(t, lasting, "new", 1)
	for range lasting.Threads(t.Context()) { // a page that shows the newest
		break
	}
	if n := c.ZCard(t.Context(), redissaver.IndexKey(s)).Val(); n > 150 {
		t.Errorf("after a listing that was broken off the index holds %d threads", n)
	}
}

// With RefreshOnRead a server that takes no writes is still read from.
func TestRefreshIsBestEffort(t *testing.T) {
	for name, refuse := range map[string][2]string{"full": {"maxmemory", "1"}, "without its replicas": {"min-replicas-to-write", "1"}} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			s, c := open(t, server.Addr, "ttl=1h", "refresh=true"), client(t, server.Addr)
			ref := grow(t, s, "t", 3)
			key := redissaver.ThreadKeys(s, "t")[record]
			setRecord(t, c, key, recordEnds, time.Now().Add(20*time.Minute).UnixMilli()) // the second half
			before := c.PExpireTime(t.Context(), key).Val()
			if err := c.ConfigSet(t.Context(), refuse[0], refuse[1]).Err(); err != nil {
				t.Fatal(err)
			}
			if _, got, err := s.Snapshot(t.Context(), ref, checkpointer.Range{}); err != nil || len(got) != 3 {
				t.Errorf("%d messages, %v", len(got), err)
			}
			if after := c.PExpireTime(t.Context(), key).Val(); after != before {
				t.Error("the end of one key alone was put off")
			}
		})
	}
}

// What no checkpoint sees is not in the store after a prune, and what is seen reads as
// before: edits of the newest, of an older branch, of a parent's message.
func TestPruneDropsWords(t *testing.T) {
	s, c := fresh(t), client(t, sharedAddr(t))
	word := func(id, text string) langrooms.Message {
		return langrooms.Message{ID: id, Role: langrooms.RoleHuman, Parts: []langrooms.Part{langrooms.TextPart(text)}}
	}
	edit := func(id, text string) checkpointer.Entry {
		return checkpointer.Entry{Op: checkpointer.OpReplace, Message: word(id, text)}
	}
	remove := func(id string) checkpointer.Entry { return checkpointer.Entry{Op: checkpointer.OpRemove, ID: id} }
	at := checkpointer.Ref{Thread: "t"}
	for _, step := range []checkpointer.Step{
		{ID: "1", Log: checkpointer.Append(word("a", "SECRET a"), word("b", "SECRET b"), word("c", "c"), word("d", "SECRET d"))},
		{ID: "2", Log: []checkpointer.Entry{edit("b", "SECRET b2"), remove("a")}},
		{ID: "3", Log: []checkpointer.Entry{edit("b", "b3"), edit("c", "SECRET c2")}},
		{ID: "4", Fork: true, Truncate: ptr(int64(6)), Log: append(checkpointer.Append(word("e", "SECRET e")), remove("d"))},
		{ID: "5", Log: []checkpointer.Entry{remove("e"), edit("c", "c5")}},
	} {
		var err error
		if at, err = s.Put(t.Context(), at, step); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprint(texts(t, s, at))
	for name, do := range map[string]func() error{
		"prune":            func() error { _, err := s.Prune(t.Context(), "t", checkpointer.Retention{Keep: 1}); return err },
		"prune of nothing": func() error { _, err := s.Prune(t.Context(), "t", checkpointer.Retention{Keep: 9}); return err },
		"compact and prune": func() (err error) {
			if at, err = s.Compact(t.Context(), at, word("s", "summary"), 1); err != nil {
				return err
			}
			want = fmt.Sprint(texts(t, s, at))
			_, err = s.Prune(t.Context(), "t", checkpointer.Retention{Keep: 1})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Fatal(name, err)
		}
		if got := fmt.Sprint(texts(t, s, at)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if name == "prune of nothing" {
			continue // it may come first, when all five checkpoints are still there
		}
		if stored := dump(t, c, redissaver.ThreadKeys(s, "t")); strings.Contains(stored, "SECRET") {
			t.Errorf("%s has left words that nobody sees:\n%s", name, stored)
		}
	}
}

// A log that was evicted is told by every later call, also after a put in another
// namespace, which does not make it anew.
func TestEvictedLogStaysTold(t *testing.T) {
	s, c := fresh(t), client(t, sharedAddr(t))
	ref := grow(t, s, "t", 2)
	c.Del(t.Context(), redissaver.ThreadKeys(s, "t")[entries])
	_, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t", Namespace: "sub"}, checkpointer.Step{Log: checkpointer.Append(message0("x"))})
	if !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("put in another namespace: %v", err)
	}
	if err := drain(s.Messages(t.Context(), ref, checkpointer.Range{}), 2); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("messages: %v", err)
	}
}

// Tokens of 64 bits are compared and raised exactly, and remembered by their use.
func TestTokensAreExact(t *testing.T) {
	s, c := fresh(t), client(t, sharedAddr(t))
	with := func(token int64) context.Context { return checkpointer.WithFence(t.Context(), "t", token) }
	writes := func(token int64) error {
		return s.PutWrites(with(token), checkpointer.Ref{Thread: "t", ID: "x"}, checkpointer.Task{ID: "task"}, nil)
	}
	key := redissaver.FenceKey(s, "t")
	for _, token := range []int64{0, 1 << 53, 1<<53 + 1, 99_999_999_999_999_999, math.MaxInt64 - 100} {
		if err := writes(token); err != nil {
			t.Fatal(token, err)
		}
		if err := writes(token - 1); !errors.Is(err, checkpointer.ErrFenced) {
			t.Errorf("a token one below %d: %v", token, err)
		}
		c.PExpire(t.Context(), key, time.Minute)
		if err := writes(token); err != nil || c.PTTL(t.Context(), key).Val() < time.Hour {
			t.Errorf("the token %d lives %v after its use, %v", token, c.PTTL(t.Context(), key).Val(), err)
		}
	}
	lease, err := s.Lock(t.Context(), "t")
	if err != nil || tokenOf(t, lease) != math.MaxInt64-99 {
		t.Fatalf("the lease's token is %d, %v", tokenOf(t, lease), err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	if err := writes(math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(t.Context(), "t"); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("a lock above the greatest token: %v", err)
	}
}

// A lease that ends too far ahead, because the server's clock was set back, is cut to what a
// new one would have.
func TestClockSetBack(t *testing.T) {
	s, c := fresh(t), client(t, sharedAddr(t))
	key := redissaver.FenceKey(s, "t")
	ends := func(set time.Duration) time.Duration {
		v, err := c.Eval(t.Context(), `local text = redis.call('GET', KEYS[1])
			local n = string.match(text, '^%d+')
			local q = cmsgpack.unpack(string.sub(text, #n + 1))
			local now = redis.call('TIME')
			now = now[1] * 1000
			if ARGV[1] ~= '0' then
				q[2] = now + ARGV[1]
				redis.call('SET', KEYS[1], n .. cmsgpack.pack(q))
			end
			return q[2] - now`, []string{key}, set.Milliseconds()).Int64()
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(v) * time.Millisecond
	}
	dead := startChild(t, "hold t", sharedAddr(t), strings.TrimSuffix(redissaver.IndexKey(s), "threads"))
	dead.expect(t, "held")
	dead.signal(t, 9)
	ends(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Lock(ctx, "t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("lock: %v", err)
	}
	if left := ends(0); left > 17*time.Second {
		t.Errorf("the dead lease ends in %v", left)
	}
}

// The first answer READONLY closes all connections to the server that was a master.
func TestReadOnlyClosesConnections(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Addr), client(t, server.Addr)
	ref := grow(t, s, "t", 1)
	blocked := make(chan error)
	const many = 12
	if err := c.Do(t.Context(), "CLIENT", "PAUSE", "200", "ALL").Err(); err != nil { // so that each call needs a connection of its own
		t.Fatal(err)
	}
	for range many {
		go func() { _, err := s.Get(t.Context(), ref); blocked <- err }()
	}
	for range many {
		if err := <-blocked; err != nil {
			t.Fatal(err)
		}
	}
	clients := func() int { return strings.Count(c.ClientList(t.Context()).Val(), "\n") }
	before := clients()
	if err := c.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), ref, checkpointer.Step{}); !errors.Is(err, checkpointer.ErrUnavailable) {
		t.Fatalf("put to a replica: %v", err)
	}
	err := redistest.Eventually(5*time.Second, func() error {
		if n := clients(); n > 3 {
			return fmt.Errorf("%d of %d connections are left", n, before)
		}
		return nil
	})
	if before < many || err != nil {
		t.Errorf("%d connections before; %v", before, err)
	}
}
