package redissaver_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// Positions in redissaver.ThreadKeys.
const (
	record = iota
	rows
	order
	entries
	values
	writes
	fence
)

// Places in the packed record.
const (
	recordTold = 6
	recordEnds = 8
)

// setRecord changes a number in the packed record of a thread; false takes it out.
func setRecord(t testing.TB, c *redis.Client, key string, place int, value any) {
	t.Helper()
	err := c.Eval(t.Context(), `local p = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'p'))
		p[tonumber(ARGV[1])] = tonumber(ARGV[2]) or false
		return redis.call('HSET', KEYS[1], 'p', cmsgpack.pack(p))`, []string{key}, place, fmt.Sprint(value)).Err()
	if err != nil {
		t.Fatal(err)
	}
}

// dump returns everything that the server holds under keys, to see that nothing changes.
// (DUMP does not serve: the order of a hash's fields changes while it is rehashed.)
func dump(t testing.TB, c *redis.Client, keys []string) string {
	t.Helper()
	var all []string
	for _, key := range keys {
		kind := c.Type(t.Context(), key).Val()
		switch kind {
		case "hash":
			for field, value := range c.HGetAll(t.Context(), key).Val() {
				all = append(all, fmt.Sprintf("%s %q %q", key, field, value))
			}
		case "zset":
			all = append(all, fmt.Sprint(key, c.ZRangeWithScores(t.Context(), key, 0, -1).Val()))
		case "set":
			all = append(all, fmt.Sprint(key, c.SMembers(t.Context(), key).Val()))
		case "string":
			all = append(all, fmt.Sprintf("%s %q", key, c.Get(t.Context(), key).Val()))
		case "none":
		default:
			t.Fatalf("key %s is a %s", key, kind)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// Each kind of damage to what is stored is ErrFormat for whoever meets it, names the
// key or the thing, and nothing is written.
func TestDamagedData(t *testing.T) {
	c := client(t, sharedAddr(t))
	type damage struct {
		name  string
		do    func(keys []string) error
		read  bool // met by reading the newest checkpoint and its messages
		put   bool // met by putting after it
		words string
	}
	set := func(key int, field, value string) func([]string) error {
		return func(keys []string) error { return c.HSet(t.Context(), keys[key], field, value).Err() }
	}
	foreign := func(key int) func([]string) error {
		return func(keys []string) error {
			c.Del(t.Context(), keys[key])
			return c.SAdd(t.Context(), keys[key], "foreign").Err()
		}
	}
	evicted := func(gone ...int) func([]string) error {
		return func(keys []string) error {
			for _, key := range gone {
				if err := c.Del(t.Context(), keys[key]).Err(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, d := range []damage{
		{"foreign type of the record", foreign(record), true, true, "holds a set"},
		{"foreign type of the rows", foreign(rows), true, true, "holds a set"},
		{"foreign type of the order", foreign(order), false, true, "holds a set"},
		{"foreign type of the log", foreign(entries), true, true, "holds a set"},
		{"foreign type of the values", foreign(values), true, true, "holds a set"},
		{"foreign type of the writes", foreign(writes), true, false, "holds a set"},
		{"another version", set(record, "p", "\x91\x03"), true, true, "format version 3"},
		{"record evicted", evicted(record), true, true, "evicted"},
		{"rows evicted", evicted(rows), true, true, "evicted"},
		{"order evicted", evicted(order), true, true, "evicted"},
		{"log evicted", evicted(entries), true, true, "evicted"},
		{"values evicted", evicted(values), true, true, "evicted"},
		{"writes evicted", evicted(writes), true, true, "evicted"},
		{"all but the log evicted", evicted(record, rows, order, values, writes), true, true, "evicted"},
		{"all but the values evicted", evicted(record, rows, order, entries, writes), true, true, "evicted"},
		{"row garbled", set(rows, "0:c", "\xc1"), true, false, "row 0:c"},
		{"row of another shape", set(rows, "0:c", "\x93\x01\x02\x03"), true, false, "row 0:c"},
		{"row of numbers", set(rows, "0:c", "\x98\x01\x02\x03\x04\x05\x06\x07\x08"), true, false, ""},
		{"newest checkpoint garbled", set(record, "H", "x"), true, true, "newest checkpoint"},
		{"entry garbled", set(entries, "e1:0", "?{}"), true, false, "log entry 0"},
		{"message garbled", set(entries, "e1:0", "a{"), true, false, "position 0"},
		{"message without an id", set(entries, "e1:0", "a{}"), true, false, "position 0"},
		{"pending writes garbled", set(writes, "i0:c", "\xc1"), true, false, "pending writes"},
		{"channel map garbled", set(values, "m1", "\xff\xff"), true, true, "channel map"},
	} {
		t.Run(d.name, func(t *testing.T) {
			s := fresh(t)
			keys := redissaver.ThreadKeys(s, "t")
			ref, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{ID: "c",
				Log: checkpointer.Append(langrooms.NewMessage("ai", "x")), Channels: map[string][]byte{"x": []byte("1")}})
			if err == nil {
				err = s.PutWrites(t.Context(), ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}})
			}
			if err == nil {
				err = d.do(keys)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := dump(t, c, keys)
			check := func(call string, err error, want bool) {
				t.Helper()
				if !want {
					return
				}
				if !errors.Is(err, checkpointer.ErrFormat) || !strings.Contains(err.Error(), d.words) {
					t.Errorf("%s: %v, want ErrFormat with %q", call, err, d.words)
				}
			}
			_, _, err = s.Snapshot(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{})
			check("snapshot", err, d.read)
			if d.put {
				_, err = s.Put(t.Context(), ref, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage("ai", "y")), Channels: map[string][]byte{"y": nil}})
				check("put", err, true)
				if dump(t, c, keys) != before {
					t.Error("a refused call has written")
				}
			}
		})
	}
}

// A foreign key where the lease and its token belong is told, and nothing is written.
func TestForeignLease(t *testing.T) {
	c := client(t, sharedAddr(t))
	for name, foreign := range map[string]func(key string){
		"set":  func(key string) { c.SAdd(t.Context(), key, "foreign") },
		"text": func(key string) { c.Set(t.Context(), key, "foreign", 0) },
	} {
		s := fresh(t)
		keys := redissaver.ThreadKeys(s, "t")
		foreign(keys[fence])
		before := dump(t, c, keys)
		_, err := s.Lock(t.Context(), "t")
		_, errPut := s.Put(checkpointer.WithFence(t.Context(), "t", 1), checkpointer.Ref{Thread: "t"}, checkpointer.Step{})
		if !errors.Is(err, checkpointer.ErrFormat) || !errors.Is(errPut, checkpointer.ErrFormat) || !strings.Contains(err.Error(), keys[fence]) {
			t.Errorf("%s: lock %v, put %v", name, err, errPut)
		}
		if dump(t, c, keys) != before {
			t.Errorf("%s: a refused call has written", name)
		}
	}
}

// Pending writes that came before their thread, from a program with another TTL, do not
// end before it; a pruning that takes the last of them leaves the thread in order.
func TestEarlyWritesLiveWithTheThread(t *testing.T) {
	c := client(t, sharedAddr(t))
	prefix := "prefix=" + nextPrefix()
	s, short := open(t, sharedAddr(t), prefix), open(t, sharedAddr(t), prefix, "ttl=1h")
	keys := redissaver.ThreadKeys(s, "t")
	at := checkpointer.Ref{Thread: "t", ID: "a"}
	if err := short.PutWrites(t.Context(), at, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x"}}); err != nil {
		t.Fatal(err)
	}
	if left := c.PTTL(t.Context(), keys[writes]).Val(); left <= 0 {
		t.Errorf("writes without a thread end in %v", left)
	}
	for i, id := range []string{"a", "b"} {
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t", ID: []string{"", "a"}[i]}, checkpointer.Step{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if left := c.PTTL(t.Context(), keys[writes]).Val(); left != -1 {
		t.Errorf("writes of a thread that stays end in %v", left)
	}
	if n, err := s.Prune(t.Context(), "t", checkpointer.Retention{Keep: 1}); n != 1 || err != nil {
		t.Fatalf("prune: %d, %v", n, err)
	}
	if _, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); err != nil {
		t.Errorf("after the pruning: %v", err)
	}
}

// A thread that was damaged by eviction, or is of a newer version, can still be deleted,
// one with a foreign key cannot.
func TestDeleteOfDamagedThread(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	for thread, deletable := range map[string]bool{"evicted": true, "foreign": false, "version": true, "remains": true} {
		if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage("ai", "x"))}); err != nil {
			t.Fatal(err)
		}
		keys := redissaver.ThreadKeys(s, thread)
		switch thread {
		case "evicted":
			c.Del(t.Context(), keys[rows], keys[entries])
		case "remains":
			c.Del(t.Context(), keys[record], keys[rows], keys[order])
		case "foreign":
			c.Set(t.Context(), keys[writes], "mine", 0)
		case "version":
			c.HSet(t.Context(), keys[record], "p", "\x91\x09", "v", "9")
		}
		before := dump(t, c, keys)
		err := s.DeleteThread(t.Context(), thread)
		if deletable != (err == nil) || !deletable && (!errors.Is(err, checkpointer.ErrFormat) || dump(t, c, keys) != before) {
			t.Errorf("delete of the thread %s: %v", thread, err)
		}
	}
}

// What is too large is refused before anything is sent.
func TestTooLarge(t *testing.T) {
	s := fresh(t)
	big := bytes.Repeat([]byte("x"), checkpointer.MaxStep+1)
	ref := grow(t, s, "t", 1)
	many := make([]checkpointer.Entry, checkpointer.MaxEntries+1)
	for i := range many {
		many[i] = checkpointer.Entry{Op: checkpointer.OpRemove, ID: "x"}
	}
	for name, err := range map[string]error{
		"channel": second(s.Put(t.Context(), ref, checkpointer.Step{Channels: map[string][]byte{"x": big}})),
		"entries": second(s.Put(t.Context(), ref, checkpointer.Step{Log: many})),
		"writes":  s.PutWrites(t.Context(), ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{{Channel: "x", Value: big}}),
		"value":   s.Blobs().Set(t.Context(), "x", big),
		"summary": second(s.Compact(t.Context(), ref, langrooms.NewMessage("system", string(big)), 0)),
	} {
		if !errors.Is(err, checkpointer.ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", name, err)
		}
	}
	if got, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"}); err != nil || got.Ref != ref {
		t.Errorf("the thread moved on to %+v, %v", got.Ref, err)
	}
}

func second[T any](_ T, err error) error { return err }

// A server that is full refuses the whole put.
func TestFullServer(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	ref := grow(t, s, "t", 3)
	keys := redissaver.ThreadKeys(s, "t")
	before := dump(t, c, keys)
	if err := c.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Put(t.Context(), ref, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage("ai", "x"))})
	if e := c.ConfigSet(t.Context(), "maxmemory", "0").Err(); e != nil {
		t.Fatal(e)
	}
	if !errors.Is(err, checkpointer.ErrUnavailable) || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("put: %v", err)
	}
	if dump(t, c, keys) != before {
		t.Error("a refused put has written")
	}
}

// A scripts cache that was emptied, as after a failover, costs a repetition and nothing
// else.
func TestEmptiedScriptCache(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	if err := c.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	everything(t, s)
	if err := c.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := drain(s.Threads(within(t, time.Minute)), 1); err != nil {
		t.Error(err)
	}
}
