package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// roomKills is how often each kind of kill is tried; a long run sets the variable to more.
func roomKills(t testing.TB) int {
	n, err := strconv.Atoi(os.Getenv("LANGROOMS_ROOM_KILLS"))
	if err != nil || n < 1 {
		return 1
	}
	t.Logf("%d kills of each kind", n)
	return n
}

// echoing is an agent that repeats the questions it is shown. It is held while gate is shut.
func echoing(t testing.TB) (m *clitest.Model, asked chan struct{}, held *turnstile) {
	asked, held = make(chan struct{}, 64), &turnstile{}
	return clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		asked <- struct{}{}
		select {
		case <-held.pass():
		case <-q.Ctx.Done():
		}
		return clitest.Say("answers " + strings.Join(questions(q.Last()), " "))
	}), asked, held
}

// turnstile is open until it is shut.
type turnstile struct {
	mu   sync.Mutex
	shut chan struct{}
}

func (g *turnstile) pass() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		open := make(chan struct{})
		close(open)
		return open
	}
	return g.shut
}

func (g *turnstile) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *turnstile) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut = nil
}

func questions(text string) []string {
	found := regexp.MustCompile(`question-\d+`).FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// A process of the room is killed between a post and its turn, during the turn, and around the
// moment in which the reply is stored with its reader's place. The next process, or another one
// that serves the same store, answers each question once (spec 4.5, 4.7).
func TestRoomSurvivesKills(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"after the post", "during the turn", "around the reply"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, config string) {
				model, asked, gate := echoing(t)
				f := folder(t, says(t, "unused"), config+sessionKeys+roster(openaiEntry("proto", model)))
				l := &killLane{t: t, f: f, moment: moment, asked: asked, gate: gate, alone: strings.Contains(config, "sqlite")}
				l.run(roomKills(t))
			})
		})
	}
}

// killLane is one room, whose process is killed again and again at one kind of moment.
type killLane struct {
	t      testing.TB
	f      *clitest.Folder
	moment string
	asked  chan struct{}
	gate   *turnstile
	alone  bool // no second process serves the store
	room   string
}

func (l *killLane) run(rounds int) {
	first, other := serve(l.t, l.f), (*served)(nil)
	if !l.alone {
		other = serve(l.t, l.f)
	}
	l.room = first.call(l.t, "POST", "/api/rooms", `{"name":"kills","agents":["proto"],"max_messages":500}`)["id"].(string)
	var longest time.Duration
	for i := range rounds {
		l.killed(first, i)
		began := time.Now()
		if l.alone {
			other = serve(l.t, l.f)
		}
		l.posted(other, i, true)
		l.answered(other, i+1)
		longest = max(longest, time.Since(began))
		first, other = other, nil
		if !l.alone {
			other = serve(l.t, l.f)
		}
	}
	l.t.Logf("at most %v from the kill to the answer", longest.Round(time.Millisecond))
	first.end(l.t)
	if other != nil {
		other.end(l.t)
	}
}

// killed posts a question to s and kills it at the lane's moment.
func (l *killLane) killed(s *served, i int) {
	l.t.Helper()
	if l.moment == "during the turn" {
		l.gate.close()
	}
	l.posted(s, i, false)
	switch l.moment {
	case "during the turn":
		<-l.asked
	case "around the reply":
		<-l.asked
		<-time.After(time.Duration(i*3%17) * time.Millisecond)
	}
	s.Signal(syscall.SIGKILL)
	s.Wait()
	if l.moment == "during the turn" {
		l.gate.open()
	}
	for len(l.asked) > 0 {
		<-l.asked
	}
}

// posted posts question i; a second time it must be known.
func (l *killLane) posted(s *served, i int, again bool) {
	l.t.Helper()
	status, text := s.ask(l.t, "POST", "/api/rooms/"+l.room+"/messages", fmt.Sprintf(`{"content":"@proto question-%d"}`, i),
		ada, "planted-ada", "Idempotency-Key", fmt.Sprint("key ", i))
	var v struct{ Replayed bool }
	if err := json.Unmarshal([]byte(text), &v); err != nil || status != 200 || v.Replayed != again {
		l.t.Fatalf("posting question %d: %d %s", i, status, text)
	}
}

// answered waits until nothing is worked on, and looks at the whole room.
func (l *killLane) answered(s *served, asked int) {
	l.t.Helper()
	var seen string
	var room struct {
		Working  []any
		Messages []struct {
			Seq     int
			Kind    string
			Content string
			Sender  *struct{ Name string }
		}
	}
	err := redistest.Eventually(time.Minute, func() error {
		status, text := s.ask(l.t, "GET", "/api/rooms/"+l.room+"?limit=500", "", ada, "planted-ada")
		room.Working, room.Messages, seen = nil, nil, text
		if err := json.Unmarshal([]byte(text), &room); err != nil || status != 200 {
			return fmt.Errorf("reading the room: %d %s", status, text) // such as that it is asked too often
		}
		if len(room.Working) > 0 {
			return fmt.Errorf("still working: %s", text)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	times := map[string]int{}
	for i, m := range room.Messages {
		switch {
		case m.Seq != i+1:
			l.t.Fatalf("message %d has seq %d", i+1, m.Seq)
		case m.Kind == "system" && i > 0:
			l.t.Errorf("a line of the room: %s", m.Content)
		case m.Sender != nil && m.Sender.Name == "proto":
			for _, q := range questions(m.Content) {
				times[q]++
			}
		case m.Sender != nil:
			times["asked"]++
		}
	}
	want := map[string]int{"asked": asked}
	for i := range asked {
		want[fmt.Sprint("question-", i)] = 1
	}
	expect(l.t, "how often each question was answered in "+seen, want, times)
}
