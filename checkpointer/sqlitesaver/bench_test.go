package sqlitesaver_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

// sized puts a thread of n messages of about 130 bytes, ten to a checkpoint.
func sized(b testing.TB, s *sqlitesaver.Saver, n int) checkpointer.Ref {
	b.Helper()
	text := strings.Repeat("x", 130)
	at := checkpointer.Ref{Thread: "t"}
	per := max(10, n/1000)
	for i := 0; i < n; i += per {
		var log []langrooms.Message
		for range per {
			log = append(log, langrooms.NewMessage(langrooms.RoleHuman, text))
		}
		var err error
		if at, err = s.Put(b.Context(), at, checkpointer.Step{Log: checkpointer.Append(log...)}); err != nil {
			b.Fatal(err)
		}
	}
	return at
}

// The cost of an operation does not grow with the thread.
func BenchmarkSaver(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000, 100_000} {
		s := open(b, filepath.Join(b.TempDir(), "bench.db"))
		at := sized(b, s, n)
		ctx := b.Context()
		b.Run(fmt.Sprintf("put/%d", n), func(b *testing.B) {
			for b.Loop() {
				next, err := s.Put(ctx, at, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "hello"))})
				if err != nil {
					b.Fatal(err)
				}
				at = next
			}
		})
		b.Run(fmt.Sprintf("window20/%d", n), func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.Messages(ctx, at, checkpointer.Range{Backward: true, Limit: checkpointer.N(20)}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Get(ctx, checkpointer.Ref{Thread: "t"}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("list100/%d", n), func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.List(ctx, checkpointer.Query{Thread: "t", Limit: checkpointer.N(100)}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// Puts to sixteen threads at a time, each flushed to the disk before it returns.
func BenchmarkPutsAtOnce(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "bench.db"))
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var done sync.WaitGroup
			for i := range writers {
				done.Go(func() {
					at := checkpointer.Ref{Thread: fmt.Sprint("t", i)}
					for left.Add(-1) >= 0 {
						var err error
						at, err = s.Put(b.Context(), at, checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "hello"))})
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			done.Wait()
		})
	}
}
