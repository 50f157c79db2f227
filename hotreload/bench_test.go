package hotreload

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkSaveToEffect measures from the beginning of a save to the call of a subscriber,
// for each way of saving, with a roster of 20 delegates; ns/op is the figure.
func BenchmarkSaveToEffect(b *testing.B) {
	roster := "delegates:\n"
	for i := range 20 {
		roster += fmt.Sprintf("  - { name: d%d, type: a2a, url: 'http://127.0.0.1/d%d' }\n", i, i)
	}
	saves := map[string]func(path string, n int) error{
		"rename": func(path string, n int) error {
			if err := os.WriteFile(path+".new", []byte(rounds(n)+roster), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"in place": func(path string, n int) error { return os.WriteFile(path, []byte(rounds(n)+roster), 0o644) },
		"Set":      func(path string, n int) error { return Set(path, "room.max_rounds", fmt.Sprint(n)) },
	}
	for name, save := range saves {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "c.yaml")
			write(b, path, rounds(1)+roster)
			_, changes := open(b, Options{Path: path})
			slowest := time.Duration(0)
			for n := 0; b.Loop(); n++ {
				want := 2 + n%2
				begin := time.Now()
				if err := save(path, want); err != nil {
					b.Fatal(err)
				}
				awaitRounds(b, changes, want)
				slowest = max(slowest, time.Since(begin))
			}
			b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("../langgraph-config.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Parse("f.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}
