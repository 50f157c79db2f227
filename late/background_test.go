package late_test

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
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/late"
	"github.com/langrooms/langrooms/room"
)

// background has the lead ask @slow in the background, in a turn that ends at once.
func (pr *program) background(query string) delegatetool.Job {
	pr.t.Helper()
	turn := begin(pr.t, pr.saver)
	turn.Reserve(0)
	job := delegatetool.Job{Thread: thread, Target: "slow", Query: query, Exchange: langrooms.NewID(), Timeout: time.Minute}
	job.Anchor = turn.Stage(room.NewAddress(langrooms.Assistant, []string{"slow"}, job.Exchange, query, false))
	err := pr.inbox.Background(job)
	if err = errors.Join(err, turn.Flush("loop"), turn.End()); err != nil {
		pr.t.Fatal(err)
	}
	return job
}

// A background answer arrives whole, as the member's own message, and wakes the lead; the
// delegate is asked the query alone, without a conversation (spec: rooms, 8).
func TestBackgroundOutcomes(t *testing.T) {
	const late = "(This arrived after its turn.)⏎"
	long := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct {
		reply  delegate.Reply
		err    error
		want   string
		notice string
	}{
		"answered":  {delegate.Reply{Text: " yes \n"}, nil, "late: " + late + "yes", "has arrived"},
		"whole":     {delegate.Reply{Text: long}, nil, "late: " + late + long, "has arrived"},
		"cut short": {delegate.Reply{Text: "half", Incomplete: "refusal"}, nil, "late: " + late + "half⏎⏎(The answer is incomplete: refusal)", "has arrived"},
		"paused":    {delegate.Reply{Text: "⏸ needs input: which?", Paused: true}, nil, "late: " + late + "⏸ needs input: which?", "resume_task_id"},
		"empty":     {delegate.Reply{Text: " \n"}, nil, "failed late: " + late + "(could not be reached: it answered without text)", "has failed"},
		"failed": {delegate.Reply{}, &delegate.Error{Delegate: "slow", Kind: delegate.KindRefused, Err: errors.New("HTTP 401")},
			"failed late: " + late + "(could not be reached: HTTP 401)", "has failed"},
		"an error of no kind": {delegate.Reply{}, errors.New("odd\x1b[31m"),
			"failed late: " + late + "(could not be reached: odd [31m)", "has failed"},
		"still running without a task": {delegate.Reply{}, &delegate.Error{Delegate: "slow", Kind: delegate.KindStillRunning, Err: errors.New("still running")},
			"failed late: " + late + "(could not be reached: still running)", "has failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				p := &peer{ask: func(context.Context, delegate.Request) (delegate.Reply, error) { return tt.reply, tt.err }}
				pr := start(t, saver, nil, p)
				put(t, saver, "hello")
				job := pr.background("is it done?")
				a := pr.arrival()
				expect(t, "thread", []string{"human: hello", "human from=assistant to=slow: is it done?", "human from=slow round=1 " + tt.want}, transcript(t, saver))
				expect(t, "exchange", job.Exchange, a.Message.Stamp.Exchange)
				if !strings.Contains(a.Notice, tt.notice) {
					t.Errorf("the lead is woken with %q, want %q", a.Notice, tt.notice)
				}
				expect(t, "requests", []delegate.Request{{Prompt: "is it done?", Timeout: time.Minute}}, p.asked)
				pr.quiet()
			})
		})
	}
}

// A background delegation that outlasts its own bound, or that touch was lost with, is
// collected like a late answer.
func TestBackgroundWorkIsCollected(t *testing.T) {
	for _, kind := range []delegate.Kind{delegate.KindStillRunning, delegate.KindTimeout} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				pr := start(t, saver, nil, &peer{read: after(2, answers("done")),
					ask: func(context.Context, delegate.Request) (delegate.Reply, error) {
						e := stillRunning("k1")
						e.Kind = kind
						return delegate.Reply{}, e
					}})
				pr.background("is it done?")
				a := pr.arrival()
				expect(t, "message", "human from=slow round=1 late: (This arrived after its turn.)⏎done", line(a.Message))
				pr.quiet()
				expect(t, "messages", 2, len(transcript(t, saver)))
			})
		})
	}
}

// The answer waits until the turn that asked has recorded the address, and is dropped when
// it never does.
func TestBackgroundWaitsForItsTurn(t *testing.T) {
	for name, recorded := range map[string]bool{"recorded": true, "not recorded": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				pr := start(t, saver, nil, &peer{ask: func(context.Context, delegate.Request) (delegate.Reply, error) {
					return delegate.Reply{Text: "quick"}, nil
				}})
				put(t, saver, "hello")
				turn := begin(t, saver)
				turn.Reserve(1)
				job := delegatetool.Job{Thread: thread, Target: "slow", Query: "q", Exchange: "x"}
				job.Anchor = turn.Stage(room.NewAddress(langrooms.Assistant, []string{"slow"}, "x", "q", false))
				if err := pr.inbox.Background(job); err != nil {
					t.Fatal(err)
				}
				pr.quiet()
				if recorded {
					if err := turn.Flush("loop", langrooms.NewMessage(langrooms.RoleAI, "asking")); err != nil {
						t.Fatal(err)
					}
				}
				if err := turn.End(); err != nil {
					t.Fatal(err)
				}
				if !recorded {
					pr.quiet()
					expect(t, "messages", 1, len(transcript(t, saver)))
					return
				}
				pr.arrival()
				expect(t, "messages", 4, len(transcript(t, saver)))
			})
		})
	}
}

// What was asked in the background and erased meanwhile does not come back, neither as an
// answer nor as a thread that keeps a handle.
func TestBackgroundErasedMeanwhile(t *testing.T) {
	answer := func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{Text: "late"}, nil
	}
	running := func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{}, stillRunning("k1")
	}
	erasures := map[string]struct {
		erase func(t *testing.T, saver checkpointer.Saver)
		want  []string
	}{
		"rewound": {func(t *testing.T, saver checkpointer.Saver) {
			hold, err := exchange.Hold(t.Context(), saver, thread)
			if err == nil {
				err = errors.Join(hold.Rewind(1), hold.End())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"human: hello"}},
		"deleted": {func(t *testing.T, saver checkpointer.Saver) {
			if err := saver.DeleteThread(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
		}, nil},
	}
	for end, ask := range map[string]func(context.Context, delegate.Request) (delegate.Reply, error){"answered": answer, "still running": running} {
		for name, tt := range erasures {
			t.Run(name+", "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					saver := memory(t)
					goOn := make(chan struct{})
					p := &peer{read: after(1, answers("late")), ask: func(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
						<-goOn
						return ask(ctx, req)
					}}
					pr := start(t, saver, durable.New(saver), p)
					put(t, saver, "hello")
					pr.background("q")
					tt.erase(t, saver)
					close(goOn)
					pr.quiet()
					expect(t, "thread", tt.want, transcript(t, saver))
					var threads []string
					for info, err := range saver.Threads(t.Context()) {
						if err != nil {
							t.Fatal(err)
						}
						threads = append(threads, info.Thread)
					}
					expect(t, "the thread exists", tt.want != nil, slices.Contains(threads, thread))
				})
			})
		}
	}
}

func TestBackgroundRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr := start(t, memory(t), nil, &peer{})
		if err := pr.inbox.Background(delegatetool.Job{Thread: thread, Target: "gone"}); !errors.Is(err, exchange.ErrNoMember) {
			t.Errorf("a target that left the roster: %v", err)
		}
		pr.inbox.Close()
		if err := pr.inbox.Background(delegatetool.Job{Thread: thread, Target: "slow"}); !errors.Is(err, late.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// The job uses its delegate to the end: a delegate that leaves the roster meanwhile is
// closed after it.
func TestBackgroundKeepsItsDelegate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		goOn := make(chan struct{})
		closed := make(chan string, 1)
		pr := start(t, saver, nil, &peer{closed: closed, ask: func(context.Context, delegate.Request) (delegate.Reply, error) {
			<-goOn
			return delegate.Reply{Text: "the last words"}, nil
		}})
		pr.background("q")
		pr.roster.Swap(nil)
		synctest.Wait()
		expect(t, "closed while it works", 0, len(closed))
		close(goOn)
		pr.arrival()
		expect(t, "closed after it", "slow", <-closed)
	})
}

func ExampleInbox_Background() {
	fmt.Println(exampleBackground())
	// Output:
	// slow: (This arrived after its turn.)
	// It is done.
}
