package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// runKills is how often a process is killed under load; a long run sets the variable to more.
func runKills(t testing.TB) int {
	if n, err := strconv.Atoi(os.Getenv("LANGROOMS_RUN_KILLS")); err == nil && n > 0 {
		return n
	}
	return 2
}

// Two processes serve one store under load, and one of them is killed again and again. Every run
// that a client was told of is on its thread and has ended, each question stands there once at the
// most and with its answer where the run succeeded, no thread is stuck, and a client that joins
// again is told all that it has missed, in order.
func TestRunsSurviveKills(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	store := redistest.Start(t)
	asked := make(chan struct{}, 1024)
	model := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		select {
		case asked <- struct{}{}:
		default:
		}
		select { // long enough that a kill meets turns
		case <-time.After(20 * time.Millisecond):
		case <-q.Ctx.Done():
		}
		found := questions(q.Last())
		return clitest.Say("answer to " + found[len(found)-1])
	})
	l := &runLoad{t: t, f: folder(t, says(t, "unused"), fmt.Sprintf("checkpointer: { url: \"redis://%s/0\" }\n", store.Addr)+roster(openaiEntry("proto", model))),
		done: make(chan struct{})}
	l.servers = []*served{serve(t, l.f), serve(t, l.f)}
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() { l.client(i) })
	}
	for i := range runKills(t) {
		for range 12 + i%7 { // so many asks after the last kill, somewhere in the next ones
			<-asked
		}
		l.kill(i % 2)
	}
	close(l.done)
	clients.Wait()
	t.Logf("%d runs, %d of them closed for their dead process, %d before their question was stored; at most %v from a broken stream to the run's end", l.runs, l.lost, l.unsaid, l.longest.Round(time.Millisecond))
	for _, s := range l.servers {
		s.end(t)
	}
}

// runLoad is the clients and the servers they speak to.
type runLoad struct {
	t    testing.TB
	f    *clitest.Folder
	done chan struct{} // closed when no more runs are to be begun

	mu         sync.Mutex
	servers    []*served
	runs, lost int
	unsaid     int // of the lost, those whose question was not yet on the thread
	longest    time.Duration
}

// kill ends a server with SIGKILL and starts another one in its place.
func (l *runLoad) kill(i int) {
	l.mu.Lock()
	s := l.servers[i]
	l.mu.Unlock()
	s.Signal(syscall.SIGKILL)
	s.Wait()
	next := serve(l.t, l.f)
	l.mu.Lock()
	l.servers[i] = next
	l.mu.Unlock()
}

func (l *runLoad) url(i int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.servers[i%2].url
}

// client has a conversation of its own until it is told to end, and checks it then.
func (l *runLoad) client(i int) {
	thread, runs := fmt.Sprint("client-", i), map[string]string{}
	for n := 0; ; n++ {
		select {
		case <-l.done:
			last := fmt.Sprintf("question-%d", 100*i+n)
			expectHere(l.t, "the last run of "+thread, "success", l.ask(i, thread, last, runs))
			l.check(i, thread, runs)
			return
		default:
			l.ask(i, thread, fmt.Sprintf("question-%d", 100*i+n), runs)
		}
	}
}

// ask sends a question, follows its run to the end through whatever breaks, and returns how it
// ended.
func (l *runLoad) ask(i int, thread, question string, runs map[string]string) string {
	f := follower{last: -1}
	var broken time.Time
	for try := i; ; try++ {
		method, path, body := "POST", "/threads/"+thread+"/runs/stream",
			fmt.Sprintf(`{"assistant_id":"agent","if_not_exists":"create","stream_mode":"messages-tuple","input":{"messages":"@proto %s"}}`, question)
		if f.run != "" {
			method, path, body = "GET", "/threads/"+thread+"/runs/"+f.run+"/stream", ""
		}
		err := f.follow(l.url(try), method, path, body, question)
		if err == nil {
			break
		}
		if broken.IsZero() {
			broken = time.Now()
		}
		if d := time.Since(broken); d > time.Minute {
			l.t.Errorf("%s on %s has not ended %v after its stream broke: %v", question, thread, d, err)
			return "stuck"
		}
		<-time.After(50 * time.Millisecond)
	}
	status := l.status(i, thread, f.run)
	runs[question] = status
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs++
	if status == "error" {
		l.lost++
	}
	if !broken.IsZero() {
		l.longest = max(l.longest, time.Since(broken))
	}
	return status
}

// follower is a client's place in the events of a run.
type follower struct {
	run  string
	last int
}

// follow reads events until the run has ended; an error is a connection that broke before.
func (f *follower) follow(url, method, path, body, key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", key)
	if f.run != "" {
		req.Header.Set("Last-Event-ID", strconv.Itoa(f.last))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: status %d", method, path, resp.StatusCode)
	}
	if at := resp.Header.Get("Content-Location"); f.run == "" {
		f.run = at[strings.LastIndex(at, "/")+1:]
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, ok := strings.CutPrefix(lines.Text(), "id: ")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(id)
		if err != nil || n != f.last+1 {
			return fmt.Errorf("after event %d came %q", f.last, id)
		}
		f.last = n
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
		return errors.New("the stream goes on")
	}
	return nil
}

// get reads a path as JSON through a server that lives.
func (l *runLoad) get(i int, path string, v any) error {
	return redistest.Eventually(time.Minute, func() error {
		i++
		resp, err := http.Get(l.url(i) + path)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: status %d", path, resp.StatusCode)
		}
		return json.NewDecoder(resp.Body).Decode(v)
	})
}

func (l *runLoad) status(i int, thread, run string) string {
	var v struct{ Status string }
	if err := l.get(i, "/threads/"+thread+"/runs/"+run, &v); err != nil {
		l.t.Error(err)
	}
	return v.Status
}

// check looks at a whole thread.
func (l *runLoad) check(i int, thread string, runs map[string]string) {
	var state struct {
		Values struct {
			Messages []struct{ Content, Type string }
		}
	}
	var list []struct{ Status string }
	if err := errors.Join(l.get(i, "/threads/"+thread+"/state", &state), l.get(i, "/threads/"+thread+"/runs?limit=1000", &list)); err != nil {
		l.t.Error(err)
		return
	}
	asked, answered := map[string]int{}, map[string]int{}
	for _, m := range state.Values.Messages {
		for _, q := range questions(m.Content) {
			if m.Type == "human" {
				asked[q]++
			} else {
				answered[q]++
			}
		}
	}
	for q, status := range runs {
		if status != "success" && status != "error" {
			l.t.Errorf("%s: the run of %s is %q", thread, q, status)
		}
		if status == "error" && asked[q] == 0 {
			l.mu.Lock()
			l.unsaid++
			l.mu.Unlock()
		}
		if asked[q] > 1 || answered[q] > 1 || status == "success" && (asked[q] != 1 || answered[q] != 1) {
			l.t.Errorf("%s: %s stands there %d times and is answered %d times, its run is %s", thread, q, asked[q], answered[q], status)
		}
	}
	expectHere(l.t, "the runs of "+thread, len(runs), len(list))
	for _, r := range list {
		if r.Status == "pending" || r.Status == "running" {
			l.t.Errorf("%s: a run is %s", thread, r.Status)
		}
	}
}

// expectHere is expect for a goroutine that is not the test's.
func expectHere[T comparable](t testing.TB, what string, want, got T) {
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
