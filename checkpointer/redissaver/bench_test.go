package redissaver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
)

// The benchmarks compare three stores on one server in one run:
//
//   - saver: this package;
//   - naive: the whole state as one JSON document, written at each step, as the usual
//     checkpointers do (kinder: it overwrites one key and has no indexes);
//   - floor: one EVALSHA that appends the message to a list, the least that a put costs.
//
// A message is 512 bytes. The 50 clients of a put have a thread each.
var benchSizes = []int{10, 100, 1_000, 10_000, 100_000}

const benchMessage = 512

// maxForMany is the longest thread of which there is one for each of 50 clients: more
// would need gigabytes.
const maxForMany = 10_000

type bench struct {
	saver  *redissaver.Saver
	client redis.UniversalClient
	mu     sync.Mutex
	grown  map[string]checkpointer.Ref
}

var (
	benchOnce sync.Once
	benchOne  *bench
)

// closeBench ends what the benchmarks, if any ran, have shared.
func closeBench() {
	if benchOne != nil {
		benchOne.saver.Close()
		benchOne.client.Close()
	}
}

func setup(b *testing.B) *bench {
	b.Helper()
	addr := sharedAddr(b)
	benchOnce.Do(func() { benchOne = newBench(b, addr) })
	return benchOne
}

func newBench(b *testing.B, addr string) *bench {
	b.Helper()
	s, err := redissaver.Open("redis://" + addr + "?prefix=bench:")
	if err != nil {
		b.Fatal(err)
	}
	options, _, err := redissaver.ParseURL("redis://" + addr)
	if err != nil {
		b.Fatal(err)
	}
	return &bench{saver: s, client: redis.NewUniversalClient(options), grown: map[string]checkpointer.Ref{}}
}

// thread returns the newest checkpoint of a thread of n messages, a step each where that
// does not take minutes.
func (f *bench) thread(b *testing.B, name string, n, each int) checkpointer.Ref {
	b.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	ref, ok := f.grown[name]
	if ok {
		return ref
	}
	ref.Thread = name
	for at := 0; at < n; at += each {
		var log []checkpointer.Entry
		for range min(each, n-at) {
			m, _ := message(b, benchMessage)
			log = append(log, checkpointer.Append(m)...)
		}
		var err error
		if ref, err = f.saver.Put(context.Background(), ref, checkpointer.Step{Log: log}); err != nil {
			b.Fatal(err)
		}
	}
	f.grown[name] = ref
	return ref
}

// grid runs do for each length and number of clients. The function that start returns
// belongs to one client.
func grid(b *testing.B, store string, most map[int]int, start func(b *testing.B, n, client int) func() error) {
	for _, n := range benchSizes {
		for _, clients := range []int{1, 50} {
			if n > most[clients] {
				continue
			}
			b.Run(fmt.Sprintf("%s/n=%d/clients=%d", store, n, clients), func(b *testing.B) {
				jobs := make([]func() error, clients)
				for i := range jobs {
					jobs[i] = start(b, n, i)
				}
				if err := jobs[0](); err != nil { // loads the script
					b.Fatal(err)
				}
				b.ResetTimer()
				var left atomic.Int64
				left.Store(int64(b.N))
				var work sync.WaitGroup
				for _, job := range jobs {
					work.Go(func() {
						for left.Add(-1) >= 0 {
							if err := job(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				work.Wait()
			})
		}
	}
}

var all = map[int]int{1: 100_000, 50: 100_000}

func BenchmarkPut(b *testing.B) {
	f := setup(b)
	ctx := context.Background()
	grid(b, "saver", map[int]int{1: 100_000, 50: maxForMany}, func(b *testing.B, n, client int) func() error {
		name := fmt.Sprintf("put%d-%d", n, client)
		ref := f.thread(b, name, n, 1000)
		m, _ := message(b, benchMessage)
		return func() (err error) {
			ref, err = f.saver.Put(ctx, ref, checkpointer.Step{Log: checkpointer.Append(m)})
			f.mu.Lock()
			f.grown[name] = ref
			f.mu.Unlock()
			return err
		}
	})
	grid(b, "naive", map[int]int{1: 100_000, 50: 1_000}, func(b *testing.B, n, client int) func() error {
		m, _ := message(b, benchMessage)
		state := make([]langrooms.Message, n)
		for i := range state {
			state[i] = m
		}
		return func() error {
			data, err := json.Marshal(append(state, m))
			if err != nil {
				return err
			}
			return f.client.Set(ctx, fmt.Sprintf("naive:%d:%d", n, client), data, 0).Err()
		}
	})
	floor := redis.NewScript(`return redis.call('RPUSH', KEYS[1], ARGV[1])`)
	m, _ := message(b, benchMessage)
	data, _ := m.MarshalJSON()
	grid(b, "floor", map[int]int{1: 10, 50: 10}, func(_ *testing.B, n, client int) func() error {
		return func() error {
			return floor.Run(ctx, f.client, []string{fmt.Sprintf("floor:%d:%d", n, client)}, data).Err()
		}
	})
}

// BenchmarkWindow reads the newest 20 messages; naive reads and decodes the state.
func BenchmarkWindow(b *testing.B) {
	f := setup(b)
	ctx := context.Background()
	grid(b, "saver", all, func(b *testing.B, n, _ int) func() error {
		ref := f.thread(b, fmt.Sprint("read", n), n, 1)
		r := checkpointer.Range{Backward: true, Limit: checkpointer.N(20)}
		return func() error { _, _, err := f.saver.Snapshot(ctx, ref, r); return err }
	})
	grid(b, "naive", map[int]int{1: 100_000, 50: 1_000}, func(b *testing.B, n, _ int) func() error {
		key := "naive-read:" + strconv.Itoa(n)
		m, _ := message(b, benchMessage)
		data, err := m.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		state := "[" + strings.Repeat(string(data)+",", n-1) + string(data) + "]"
		if err := f.client.Set(ctx, key, state, 0).Err(); err != nil {
			b.Fatal(err)
		}
		return func() error {
			data, err := f.client.Get(ctx, key).Bytes()
			if err != nil {
				return err
			}
			var state []langrooms.Message
			return json.Unmarshal(data, &state)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	f := setup(b)
	grid(b, "saver", all, func(b *testing.B, n, _ int) func() error {
		ref := f.thread(b, fmt.Sprint("read", n), n, 1)
		return func() error { _, err := f.saver.Get(context.Background(), ref); return err }
	})
}

// BenchmarkList reads the newest 20 checkpoints of n.
func BenchmarkList(b *testing.B) {
	f := setup(b)
	grid(b, "saver", all, func(b *testing.B, n, _ int) func() error {
		ref := f.thread(b, fmt.Sprint("read", n), n, 1)
		q := checkpointer.Query{Thread: ref.Thread, Limit: checkpointer.N(20)}
		return func() error { return drain(f.saver.List(context.Background(), q), min(n, 20)) }
	})
}
