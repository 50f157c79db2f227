package sharedsession_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/sharedsession"
)

// clients is how many callers post at once in the benchmarks.
const clients = 50

// text is what they post.
var text = strings.Repeat("words ", 85)

// BenchmarkPost has 50 clients post notes, each to a room of its own; floor is the bare put of
// the same message, each to a thread of its own, on the same store.
func BenchmarkPost(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind+"/post", func(b *testing.B) {
			w := serve(b, storeOf(b, kind), nil, says("proto", "yes"))
			many := 500
			type room struct {
				id    string
				posts int
			}
			fresh := func() room {
				return room{w.create(sharedsession.NewRoom{Name: "n", Agents: invite("proto"), MaxMessages: &many}), 0}
			}
			rooms := make(chan room, clients)
			for range clients {
				rooms <- fresh()
			}
			byClients(b, func() {
				r := <-rooms
				if r.posts++; r.posts > many { // a room takes so many; making the next one counts
					r = fresh()
					r.posts = 1
				}
				w.say(r.id, text)
				rooms <- r
			})
		})
		b.Run(kind+"/floor", func(b *testing.B) {
			saver := storeOf(b, kind)
			heads := make(chan checkpointer.Ref, clients)
			for i := range clients {
				heads <- checkpointer.Ref{Thread: fmt.Sprint("thread ", i)}
			}
			byClients(b, func() {
				head := <-heads
				next, err := saver.Put(b.Context(), head, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, text))})
				if err != nil {
					b.Error(err)
				}
				heads <- next
			})
		})
	}
}

// byClients runs do b.N times from as many goroutines.
func byClients(b *testing.B, do func()) {
	b.SetParallelism(clients / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do()
		}
	})
}

// BenchmarkDispatch measures from the call of Post to the moment in which the agent is asked.
func BenchmarkDispatch(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			asked := make(chan time.Time, 1)
			proto := &voice{"proto", func(context.Context, delegate.Request) (delegate.Reply, error) {
				asked <- time.Now()
				return delegate.Reply{Text: "pass"}, nil
			}}
			w := serve(b, storeOf(b, kind), nil, proto)
			many := 500
			var took []time.Duration
			id, left := "", 0
			for b.Loop() {
				if left == 0 { // thirty wakes of one sender in a room
					id, left = w.create(sharedsession.NewRoom{Name: "n", Agents: invite("proto"), MaxMessages: &many}), 30
				}
				left--
				began := time.Now()
				w.say(id, "@proto go")
				took = append(took, (<-asked).Sub(began))
				w.idle(id)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
	}
}

// BenchmarkReadSince reads the newest ten messages of rooms of several lengths.
func BenchmarkReadSince(b *testing.B) {
	for _, kind := range kinds {
		saver := storeOf(b, kind)
		w := serve(b, saver, nil, says("proto", "yes"))
		for _, length := range []int{10, 100, 1000, 10000} {
			id := w.open("proto")
			fill(b, saver, id, length-2) // behind the room's first line
			w.say(id, "counted")
			since := int64(length) - 10
			b.Run(fmt.Sprintf("%s/%d", kind, length), func(b *testing.B) {
				for b.Loop() {
					d, err := w.Read(b.Context(), ada, id, sharedsession.Page{Since: since})
					if err != nil || len(d.Messages) != 10 {
						b.Fatal(len(d.Messages), err)
					}
				}
			})
		}
	}
}

// fill puts lines straight on a room's thread: they are read as messages and use up no budget.
func fill(tb testing.TB, saver checkpointer.Saver, id string, n int) {
	tb.Helper()
	head, err := saver.Get(tb.Context(), checkpointer.Ref{Thread: id})
	if err != nil {
		tb.Fatal(err)
	}
	for n > 0 {
		messages := make([]langrooms.Message, min(n, 1000))
		for i := range messages {
			messages[i] = langrooms.NewMessage(langrooms.RoleSystem, text)
		}
		n -= len(messages)
		if head.Ref, err = saver.Put(tb.Context(), head.Ref, checkpointer.Step{Log: checkpointer.Append(messages...)}); err != nil {
			tb.Fatal(err)
		}
	}
}

// manyRooms is how many rooms BenchmarkRooms makes; the variable sets more.
func manyRooms() int {
	if n, err := strconv.Atoi(os.Getenv("LANGROOMS_ROOMS")); err == nil && n > 0 {
		return n
	}
	return 100
}

// BenchmarkRooms tells what rooms of 200 messages take of a Redis server, beside a bare list of
// the same messages.
func BenchmarkRooms(b *testing.B) {
	server := redistest.Start(b)
	w := serve(b, redisAt(b, server.Addr), nil, says("proto", "yes"))
	memory, keys := usage(b, server.Addr)
	rooms := manyRooms()
	for b.Loop() {
	}
	for range rooms {
		fill(b, w.saver, w.open("proto"), 200)
	}
	after, more := usage(b, server.Addr)
	b.ReportMetric(float64(after-memory)/float64(rooms), "B/room")
	b.ReportMetric(float64(more-keys)/float64(rooms), "keys/room")
	b.ReportMetric(float64(200*len(text)), "B-of-text/room")
}

var usedMemory, keyspace = regexp.MustCompile(`used_memory:(\d+)`), regexp.MustCompile(`keys=(\d+)`)

func usage(tb testing.TB, addr string) (memory, keys int64) {
	tb.Helper()
	number := func(section string, pattern *regexp.Regexp) int64 {
		info, err := redistest.Command(addr, "INFO", section)
		if err != nil {
			tb.Fatal(err)
		}
		m := pattern.FindStringSubmatch(info)
		if m == nil {
			return 0
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	return number("memory", usedMemory), number("keyspace", keyspace)
}
