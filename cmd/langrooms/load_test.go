package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms/fake"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/setup"
)

// instant is a member that answers at once, or when it is let go.
type instant struct{ wait chan struct{} }

func (instant) Info() delegate.Info { return delegate.Info{Name: "proto", Type: "test"} }
func (instant) Probe(context.Context) (delegate.Health, error) {
	return delegate.Health{}, nil
}
func (instant) Close() error { return nil }
func (d instant) Ask(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
	if d.wait != nil {
		select {
		case <-d.wait:
		case <-ctx.Done():
		}
	}
	return delegate.Reply{Text: "yes"}, nil
}

// callers is how many identities the servers here know; each may send only so much a second.
const callers = 200

// here is a server in the test's own process.
type here struct {
	*server
	url string
}

// serveHere serves saver, with d as the only member.
func serveHere(t testing.TB, saver checkpointer.Saver, d delegate.Delegate) *here {
	t.Helper()
	keys := "model: { provider: demo }\nserver:\n  keys:\n"
	for i := range callers {
		keys += fmt.Sprintf("    - { name: user%d, key: planted-%d, admin: true }\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{out: io.Discard, diag: os.Stderr}
	app, err := setup.Open(t.Context(), setup.Options{Path: path, Required: true, Saver: saver, Model: fake.NewFakeLLM([]string{"hi"}),
		Delegates: []delegate.Delegate{d}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.newServer(app, &ownDoor{}, &consent.Desk{}, observe(app, nil, nil), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := app.Close(); err != nil {
			t.Error(err)
		}
	})
	return &here{s, "http://" + s.listen.Addr().String()}
}

// turn has a caller take a turn on a thread and waits for its end.
func (h *here) turn(client *http.Client, caller int, thread string) error {
	body := `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"@proto well?"}}`
	req, err := http.NewRequest("POST", h.url+"/threads/"+thread+"/runs/wait", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Api-Key", fmt.Sprint("planted-", caller%callers))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(text), "__error__") {
		return fmt.Errorf("%d %s %w", resp.StatusCode, text, err)
	}
	return nil
}

// load has clients take n turns in all, and returns how long each took.
func load(t testing.TB, clients, n int, turn func(client, i int) error) (took []time.Duration, whole time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	work := make(chan int)
	began := time.Now()
	for c := range clients {
		all.Go(func() {
			for i := range work {
				start := time.Now()
				if err := turn(c, i); err != nil {
					t.Error(err)
				}
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
	slices.Sort(took)
	return took, time.Since(began)
}

// BenchmarkServedTurns has 200 clients take turns on 50 threads, through the server and beside it in
// the same process, over one store. A thread's turns wait for each other.
func BenchmarkServedTurns(b *testing.B) {
	for _, kind := range []string{"memory", "redis"} {
		for _, way := range []string{"library", "server"} {
			b.Run(kind+"/"+way, func(b *testing.B) {
				h := serveHere(b, loadStore(b, kind), instant{})
				nodes, err := wire(h.app)
				if err != nil {
					b.Fatal(err)
				}
				transport := &http.Transport{MaxIdleConnsPerHost: 200}
				defer transport.CloseIdleConnections()
				client := &http.Client{Transport: transport}
				turn := func(c, i int) error { return h.turn(client, c, fmt.Sprint("thread-", c%50)) }
				if way == "library" {
					turn = func(c, i int) error {
						_, err := nodes.room.Handle(b.Context(), roomnode.Turn{Thread: fmt.Sprint("thread-", c%50), Text: "@proto well?"})
						return err
					}
				}
				b.ResetTimer()
				took, whole := load(b, 200, b.N, turn)
				b.ReportMetric(float64(len(took))/whole.Seconds(), "turns/s")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}

func loadStore(t testing.TB, kind string) checkpointer.Saver {
	t.Helper()
	if kind == "memory" {
		s := memorysaver.New()
		t.Cleanup(func() { s.Close() })
		return s
	}
	redistest.Need(t)
	s, err := redissaver.Open("redis://" + redistest.Start(t).Addr + "/0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// used is what the process holds.
type used struct {
	goroutines, files int
	heap              uint64
}

func use(t testing.TB) used {
	t.Helper()
	for range 3 { // finalizers free more
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // of Linux alone; elsewhere none are counted
	return used{runtime.NumGoroutine(), len(files), m.HeapInuse + m.StackInuse}
}

// Posted turns leave nothing in the server: no goroutine, no file, no memory.
func TestTurnsLeaveNothing(t *testing.T) {
	turns := 400 // a long run sets the variable to more
	if n, err := strconv.Atoi(os.Getenv("LANGROOMS_TURNS")); err == nil && n > 0 {
		turns = n
	}
	h := serveHere(t, loadStore(t, "redis"), instant{})
	round := func(n int) used {
		transport := &http.Transport{MaxIdleConnsPerHost: 16}
		client := &http.Client{Transport: transport}
		load(t, 16, n, func(c, i int) error { return h.turn(client, c+16*(i%12), fmt.Sprint("thread-", i%50)) })
		transport.CloseIdleConnections()
		var now used
		_ = redistest.Eventually(5*time.Second, func() error { // connections end a little later than their clients
			if now = use(t); now.goroutines > 60 {
				return fmt.Errorf("%d goroutines", now.goroutines)
			}
			return nil
		})
		return now
	}
	first := round(200) // what is made once is made
	last := round(turns)
	t.Logf("after 200 turns %+v, after %d more %+v", first, turns, last)
	if last.goroutines > first.goroutines+5 || last.files > first.files+5 || last.heap > first.heap+4<<20 {
		t.Errorf("after 200 turns %+v, after %d more %+v", first, turns, last)
	}
}

// An idle stream of events costs the server little.
func TestIdleStreams(t *testing.T) {
	streams := 200 // a long run sets the variable to more
	if n, err := strconv.Atoi(os.Getenv("LANGROOMS_STREAMS")); err == nil && n > 0 {
		streams = n
	}
	gate := make(chan struct{})
	h := serveHere(t, loadStore(t, "memory"), instant{gate})
	going := make(chan error, 1)
	go func() { going <- h.turn(http.DefaultClient, 0, "t") }()
	var run string
	err := redistest.Eventually(10*time.Second, func() error {
		live, err := h.runs.Live(t.Context(), "t")
		if err != nil || len(live) == 0 {
			return fmt.Errorf("no run yet: %w", err)
		}
		run = live[0].ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := use(t)
	conns := make([]net.Conn, streams)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", h.listen.Addr().String()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
		fmt.Fprintf(conns[i], "GET /threads/t/runs/%s/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: planted-%d\r\n\r\n", run, i%callers)
		if line, err := bufio.NewReaderSize(conns[i], 64).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("stream %d: %q, %v", i, line, err)
		}
	}
	now := use(t)
	each := int64(now.heap-before.heap) / int64(streams)
	t.Logf("%d streams: %d bytes and %.1f goroutines each", streams, each, float64(now.goroutines-before.goroutines)/float64(streams))
	bound := int64(48 << 10) // 40 KB when it was written, the client's end of the connection among them
	if raced {
		bound = 80 << 10
	}
	if each > bound {
		t.Errorf("a stream holds %d bytes", each)
	}
	close(gate)
	if err := <-going; err != nil {
		t.Error(err)
	}
}
