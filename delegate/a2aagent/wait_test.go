package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// TestSchedule shows when a task is looked at (spec: rooms, 6): after 1, 1.5, 2.25, 3.375,
// then every 5 seconds.
func TestSchedule(t *testing.T) {
	working := result(inTask(taskV1("WORKING", "")))
	f := &fakePeer{card: cardV1, replies: append(slices.Repeat([]reply{working}, 8), result(taskV1("COMPLETED", "", "done")))}
	l := &timeline{f: f}
	inBubble(t, l, nil, func(t *testing.T, a *Agent) {
		got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
		if err != nil || got.Text != "done" {
			t.Fatalf("Ask = %q, %v", got.Text, err)
		}
	})
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	want := []time.Duration{ms(1000), ms(2500), ms(4750), ms(8125), ms(13125), ms(18125), ms(23125), ms(28125)}
	if !slices.Equal(l.at, want) {
		t.Errorf("the task was looked at after %v, want %v", l.at, want)
	}
}

// What a polled answer has grown by is told, so that the words of a task that is stopped are known;
// nothing is told twice, nothing of a secret, and nothing more when it has become another answer.
func TestPolledWordsAreTold(t *testing.T) {
	working := func(texts ...string) reply {
		var parts []string
		for _, text := range texts {
			parts = append(parts, fmt.Sprintf(`{"artifactId":%q,"parts":[{"text":%q}]}`, text[:1], text))
		}
		return result(`{"task":{"id":"task-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"artifacts":[` + strings.Join(parts, ",") + `]}}`)
	}
	for _, c := range []struct {
		name    string
		replies []reply
		want    []string
	}{
		{"grows", []reply{working("I think"), working("I think it is"), working("I think it is"), working("I think it is", "The linker")}, []string{"I think", " it is", "\n\nThe linker"}},
		{"another", []reply{working("I think"), working("No"), working("No, it is not")}, []string{"I think"}},
		{"a secret", []reply{working("it is " + secretToken[:7]), working("it is " + secretToken + ".")}, []string{"it is "}},
		{"blank", []reply{working(" "), working(" "), working(" so")}, []string{" so"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []string
			f := &fakePeer{card: cardV1, replies: append([]reply{result(inTask(taskV1("WORKING", "")))}, c.replies...)}
			key := func(c *Config) { c.Token = func() (string, error) { return secretToken, nil } }
			inBubble(t, f, key, func(t *testing.T, a *Agent) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := a.Ask(ctx, delegate.Request{Prompt: "hi", Progress: func(p langrooms.Progress) {
					if p.Kind == langrooms.ProgressText {
						told = append(told, p.Text)
					}
				}})
				if kindOf(err) != delegate.KindCanceled {
					t.Errorf("Ask = %v", err)
				}
			})
			if !slices.Equal(told, c.want) {
				t.Errorf("told %q, want %q", told, c.want)
			}
		})
	}
}

// TestMaterialChange shows what counts as progress (spec: rooms, 6). The peer answers each
// look with step, until waiting ends; it ends 300 s after the last material change.
func TestMaterialChange(t *testing.T) {
	stamp := func(i int) string { return time.Unix(int64(i), 0).UTC().Format(time.RFC3339) }
	task := func(fields string) string { return `{"task":{"id":"task-1","contextId":"c",` + fields + `}}` }
	for _, c := range []struct {
		name string
		// step is the answer to the i-th request; changes is how many of the answers to
		// looks differ materially from the one before.
		step  func(i int) string
		lasts time.Duration
	}{
		{"identical working", func(int) string { return task(`"status":{"state":"TASK_STATE_WORKING"}`) }, 300 * time.Second},
		{"time stamps", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"TASK_STATE_WORKING","timestamp":%q}`, stamp(i)))
		}, 300 * time.Second},
		{"history and metadata", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"TASK_STATE_WORKING"},"metadata":{"n":%d},"history":[{"messageId":"%d","parts":[{"text":"%d"}]}]`, i, i, i))
		}, 300 * time.Second},
		{"status message ids", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"%d","parts":[{"text":"on it"}]}}`, i))
		}, 300 * time.Second},
		{"ids that come and go", func(i int) string {
			if i%2 == 1 {
				return `{"status":{"state":"TASK_STATE_WORKING"}}`
			}
			return task(`"status":{"state":"TASK_STATE_WORKING"}`)
		}, 300 * time.Second},
		// The fourth look, 8.125 s after the message, is the last with a change.
		{"state", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"STEP_%d"}`, min(i, 4)))
		}, 308125 * time.Millisecond},
		{"status message", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"text":"step %d"}]}}`, min(i, 4)))
		}, 308125 * time.Millisecond},
		{"artifact text", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"parts":[{"text":"step %d"}]}]`, min(i, 4)))
		}, 308125 * time.Millisecond},
		{"artifact file of the same size", func(i int) string {
			return task(fmt.Sprintf(`"status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"parts":[{"raw":"AAA%d"}]}]`, min(i, 4)))
		}, 308125 * time.Millisecond},
		{"context id", func(i int) string {
			return fmt.Sprintf(`{"task":{"id":"task-1","contextId":"c%d","status":{"state":"TASK_STATE_WORKING"}}}`, min(i, 4))
		}, 308125 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1}
			for i := range 80 {
				f.replies = append(f.replies, result(c.step(i)))
			}
			inBubble(t, f, nil, func(t *testing.T, a *Agent) {
				began := time.Now()
				_, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
				if kindOf(err) != delegate.KindStillRunning || !strings.Contains(err.Error(), "still running after 300s without observable progress — the peer may still be working") {
					t.Fatalf("Ask = %v, want still running", err)
				}
				if took := time.Since(began); took != c.lasts {
					t.Errorf("waiting ended after %v, want %v", took, c.lasts)
				}
			})
		})
	}
}

// TestBusy shows that a peer which takes no more for now is asked once more when that is
// configured, after as long as it says, and that a refusal which stands can be told apart.
func TestBusy(t *testing.T) {
	hi := result(`{"message":{"parts":[{"text":"hi"}]}}`)
	for _, c := range []struct {
		name    string
		retries int
		replies []reply
		text    string
		kind    delegate.Kind
		busy    bool
		took    time.Duration
		sent    int
	}{
		{"429 with a time", 1, []reply{{status: 429, after: "7"}, hi}, "hi", "", false, 7 * time.Second, 2},
		{"429 without", 1, []reply{{status: 429}, hi}, "hi", "", false, time.Second, 2},
		{"503 with a time", 1, []reply{{status: 503, after: "2"}, hi}, "hi", "", false, 2 * time.Second, 2},
		{"503 without", 1, []reply{{status: 503}, hi}, "", delegate.KindUnreachable, false, 0, 1},
		{"429 again", 1, []reply{{status: 429, after: "7"}}, "", delegate.KindRefused, true, 7 * time.Second, 2},
		{"no retries", 0, []reply{{status: 429, after: "7"}, hi}, "", delegate.KindRefused, true, 0, 1},
		{"503 and no retries", 0, []reply{{status: 503, after: "7"}, hi}, "", delegate.KindUnreachable, true, 0, 1},
		{"too long a time", 1, []reply{{status: 429, after: "3600"}, hi}, "", delegate.KindRefused, true, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1, replies: c.replies}
			inBubble(t, f, func(cfg *Config) { cfg.HTTP.Retries = c.retries }, func(t *testing.T, a *Agent) {
				began := time.Now()
				got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
				if got.Text != c.text || kindOf(err) != c.kind || errors.Is(err, delegate.ErrBusy) != c.busy {
					t.Errorf("Ask = %q, %v (kind %q, busy %v)", got.Text, err, kindOf(err), errors.Is(err, delegate.ErrBusy))
				}
				if took := time.Since(began); took != c.took || len(f.requests()) != c.sent {
					t.Errorf("%d messages in %v, want %d in %v", len(f.requests()), took, c.sent, c.took)
				}
			})
		})
	}
	f := &fakePeer{card: cardV1, replies: []reply{{status: 401}}}
	if _, err := f.serve(t, nil).Ask(t.Context(), delegate.Request{Prompt: "hi"}); !errors.Is(err, delegate.ErrCredential) || errors.Is(err, delegate.ErrBusy) {
		t.Errorf("401 = %#v", err)
	}
}

// TestTimeout shows that a call's own limit is a hard wall clock: progress does not move it.
func TestTimeout(t *testing.T) {
	f := &fakePeer{card: cardV1}
	for i := range 40 {
		f.replies = append(f.replies, result(inTask(taskV1("WORKING", fmt.Sprint("step ", i)))))
	}
	inBubble(t, f, nil, func(t *testing.T, a *Agent) {
		began := time.Now()
		_, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Timeout: 42 * time.Second})
		if took := time.Since(began); kindOf(err) != delegate.KindStillRunning || took != 42*time.Second {
			t.Errorf("Ask = %v after %v, want still running after 42s", err, took)
		}
		if e := delegate.AsError("", err); e.Task != "task-1" {
			t.Errorf("the error names task %q", e.Task)
		}
	})
	if strings.Contains(f.methods(), "CancelTask") {
		t.Error("a task whose wait ended was canceled; its answer may still be collected")
	}
}

// TestHeldRequest shows that a peer which answers inline may take as long as the poll
// timeout, and no longer.
func TestHeldRequest(t *testing.T) {
	f := &fakePeer{card: cardV1, replies: []reply{{never: true}}}
	inBubble(t, f, nil, func(t *testing.T, a *Agent) {
		began := time.Now()
		_, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
		if took := time.Since(began); kindOf(err) != delegate.KindTimeout || took != 300*time.Second {
			t.Errorf("Ask = %v after %v, want a timeout after 300s", err, took)
		}
	})
}

// TestStop shows that the end of the caller's context cancels the task at the peer.
func TestStop(t *testing.T) {
	working := result(inTask(taskV1("WORKING", "")))
	for _, c := range []struct {
		name    string
		replies []reply
		methods string
		within  time.Duration
	}{
		{"between two looks", []reply{working}, "SendMessage GetTask GetTask GetTask CancelTask", 0},
		{"a peer that does not confirm", []reply{working, working, working, working, {never: true}},
			"SendMessage GetTask GetTask GetTask CancelTask", cancelTimeout},
		{"while the first request is held", []reply{{never: true}}, "SendMessage", stopGrace},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1, replies: c.replies}
			inBubble(t, f, nil, func(t *testing.T, a *Agent) {
				stopped := errors.New("the operator stopped it")
				ctx, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(5*time.Second, func() { stop(stopped) })
				began := time.Now()
				_, err := a.Ask(ctx, delegate.Request{Prompt: "hi"})
				if kindOf(err) != delegate.KindCanceled || !errors.Is(err, stopped) {
					t.Errorf("Ask = %v, want canceled by the cause", err)
				}
				if took := time.Since(began); took != 5*time.Second+c.within {
					t.Errorf("stopping took %v, want %v", took-5*time.Second, c.within)
				}
				synctest.Wait()
			})
			if f.methods() != c.methods {
				t.Errorf("the peer was sent %q, want %q", f.methods(), c.methods)
			}
		})
	}
}

// TestStopWhileTheTaskIsHandedBack shows that a task which is handed back just after the
// stop is canceled too.
func TestStopWhileTheTaskIsHandedBack(t *testing.T) {
	hold := make(chan struct{})
	first := result(inTask(taskV1("WORKING", "")))
	first.hold, first.arrived = hold, make(chan struct{})
	f := &fakePeer{card: cardV1, replies: []reply{first, result(taskV1("CANCELED", ""))}}
	a := f.serve(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer context.AfterFunc(ctx, func() { close(hold) })()
	asked := make(chan error, 1)
	go func() {
		_, err := a.Ask(ctx, delegate.Request{Prompt: "hi"})
		asked <- err
	}()
	<-first.arrived
	stop()
	if err := <-asked; kindOf(err) != delegate.KindCanceled {
		t.Errorf("Ask = %v, want canceled", err)
	}
	if f.methods() != "SendMessage CancelTask" {
		t.Errorf("the peer was sent %q", f.methods())
	}
}
