package late_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/late"
)

// A late answer lands as the member's own message, with a line that says so and the stamps
// of its address, and wakes the lead (spec: rooms, 7.5). Words bring the conversation back.
func TestLateOutcomes(t *testing.T) {
	lost := func(context.Context, int) (delegate.TaskView, error) {
		return delegate.TaskView{}, errors.New("connection refused")
	}
	failure := &delegate.Error{Delegate: "slow", Kind: delegate.KindFailed, Err: errors.New("out of\nmemory")}
	const front = "human from=slow round=1 "
	const late = "(This arrived after its turn.)⏎"
	for name, tt := range map[string]struct {
		read     func(context.Context, int) (delegate.TaskView, error)
		want     string
		notice   string
		rejoined []string
	}{
		"answered": {after(3, answers(" it is\ndone ")), "seen=3 late: " + late + "it is⏎done", "has arrived", []string{"t c1"}},
		"answered, cut short": {after(1, delegate.TaskView{State: delegate.TaskAnswered,
			Reply: delegate.Reply{Text: "half", Incomplete: "max_tokens"}}),
			"seen=3 late: " + late + "half⏎⏎(The answer is incomplete: max_tokens)", "has arrived", []string{"t "}},
		"answered without text": {after(1, answers(" \n")),
			"failed late: " + late + "(could not be reached: it answered without text)", "has failed", nil},
		"hostile bytes": {after(1, answers("a\xffb")), "seen=3 late: " + late + "a\uFFFDb", "has arrived", []string{"t c1"}},
		"paused": {after(2, delegate.TaskView{State: delegate.TaskPaused,
			Reply: delegate.Reply{Text: "⏸ needs input: which one? (task k1)", Paused: true, Task: "k1"}}),
			"seen=3 task=k1 late: " + late + "⏸ needs input: which one? (task k1)", "resume_task_id", nil},
		"failed": {after(2, delegate.TaskView{State: delegate.TaskFailed, Err: failure}),
			"failed late: " + late + "(could not be reached: out of memory)", "has failed", nil},
		"failed without a word": {after(1, delegate.TaskView{State: delegate.TaskFailed}),
			"failed late: " + late + "(could not be reached: it failed and did not say why)", "has failed", nil},
		"gave up": {after(1<<30, delegate.TaskView{}),
			"failed late: " + late + "(could not be reached: still running after an hour; the answer is not waited for any longer)", "has failed", nil},
		"lost touch": {lost,
			"failed late: " + late + "(could not be reached: lost touch while waiting for the late answer: connection refused)", "has failed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				p := &peer{read: tt.read}
				pr := start(t, saver, nil, p)
				put(t, saver, "hello", "and now")
				if o := pr.address(false); !o.Collecting {
					t.Fatalf("the answer is not waited for: %+v", o)
				}
				a := pr.arrival()
				got := transcript(t, saver)
				want := []string{"human: hello", "human: and now", "human from=operator to=slow: how far?", gaveUp, front + tt.want}
				expect(t, "thread", want, got)
				expect(t, "arrival", want[4], line(a.Message))
				expect(t, "its thread", thread, a.Thread)
				if !strings.Contains(a.Notice, tt.notice) || !strings.Contains(a.Notice, "@slow") {
					t.Errorf("the lead is woken with %q, want it to say %q", a.Notice, tt.notice)
				}
				expect(t, "one exchange", true, a.Message.Stamp.Exchange != "" && a.Message.Stamp.Exchange == exchangeOf(t, saver, 2))
				pr.quiet()
				expect(t, "rejoined", tt.rejoined, p.rejoined)
				expect(t, "it landed once", 5, len(transcript(t, saver)))
			})
		})
	}
}

// A task that its peer does not know any more ends the waiting quietly.
func TestUnknownTaskIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: func(context.Context, int) (delegate.TaskView, error) {
			return delegate.TaskView{}, fmt.Errorf("HTTP 404: %w", delegate.ErrUnknownTask)
		}})
		pr.address(false)
		pr.quiet()
		expect(t, "messages", 2, len(transcript(t, saver)))
	})
}

// A late answer to an incognito message lands, is stamped so, and wakes nobody.
func TestIncognitoWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(1, answers("between us"))})
		pr.address(true)
		a := pr.arrival()
		expect(t, "notice", "", a.Notice)
		expect(t, "stamp", true, a.Message.Stamp.Incognito)
	})
}

// The answer waits for a turn that is running, whoever runs it.
func TestWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(1, answers("done"))})
		pr.address(false)
		turn := begin(t, saver)
		pr.quiet()
		expect(t, "messages during the turn", 2, len(transcript(t, saver)))
		if err := turn.End(); err != nil {
			t.Fatal(err)
		}
		pr.arrival()
	})
}

// An answer to history that was erased does not come back, however it was erased: with a
// withdrawal here, or by a process that knows nothing of the handle.
func TestErasedHistoryStaysErased(t *testing.T) {
	rewind := func(t *testing.T, pr *program, upTo int64) {
		hold, err := exchange.Hold(t.Context(), pr.saver, thread)
		if err == nil {
			err = errors.Join(hold.Rewind(upTo), hold.End())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		erase func(t *testing.T, pr *program)
		want  []string
	}{
		"withdrawn": {func(t *testing.T, pr *program) {
			if err := pr.handles.DropHandles(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
		}, []string{"human: hello", "human from=operator to=slow: how far?", gaveUp}},
		"rewound elsewhere": {func(t *testing.T, pr *program) { rewind(t, pr, 1) }, []string{"human: hello"}},
		"rewound elsewhere to the address": {func(t *testing.T, pr *program) { rewind(t, pr, 2) },
			[]string{"human: hello", "human from=operator to=slow: how far?"}},
		"rewound elsewhere and gone on": {func(t *testing.T, pr *program) {
			rewind(t, pr, 1)
			put(t, pr.saver, "something", "else")
		}, []string{"human: hello", "human: something", "human: else"}},
		"deleted elsewhere": {func(t *testing.T, pr *program) {
			if err := pr.saver.DeleteThread(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
		}, nil},
		"deleted elsewhere and begun anew": {func(t *testing.T, pr *program) {
			if err := pr.saver.DeleteThread(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
			put(t, pr.saver, "a", "b", "c")
		}, []string{"human: a", "human: b", "human: c"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				p := &peer{read: after(3, answers("from the erased past"))}
				pr := start(t, saver, nil, p)
				put(t, saver, "hello")
				pr.address(false)
				tt.erase(t, pr)
				pr.quiet()
				expect(t, "thread", tt.want, transcript(t, saver))
				expect(t, "rejoined", []string(nil), p.rejoined)
			})
		})
	}
}

// A compaction is no erasure: the answer lands behind the summary.
func TestCompactionKeepsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(2, answers("done"))})
		pr.address(false)
		summary := langrooms.NewMessage(langrooms.RoleSystem, "they talked")
		summary.Summary = &langrooms.Summary{Replaced: 2}
		hold, err := exchange.Hold(t.Context(), saver, thread)
		if err == nil {
			err = errors.Join(hold.Compact(summary, 0), hold.End())
		}
		if err != nil {
			t.Fatal(err)
		}
		pr.arrival()
	})
}

// The answer comes once when the lead goes on with the task itself.
func TestClaimedByTheLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(1, answers("done"))})
		pr.address(false)
		pr.inbox.Claim(thread, "slow", "another task")
		pr.inbox.Claim(thread, "slow", "k1")
		pr.quiet()
		expect(t, "messages", 2, len(transcript(t, saver)))
	})
}

// A lead that claims in its own turn, while the answer already waits for that turn, has it
// alone.
func TestClaimedWhileLanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(1, answers("done"))})
		pr.address(false)
		turn := begin(t, saver)
		pr.quiet() // it is waiting for the turn now
		pr.inbox.Claim(thread, "slow", "k1")
		if err := turn.End(); err != nil {
			t.Fatal(err)
		}
		pr.quiet()
		expect(t, "messages", 2, len(transcript(t, saver)))
	})
}

// The newer task of a member replaces the older one.
func TestNewerTaskReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		pr := start(t, saver, nil, &peer{read: after(4, answers("done"))})
		pr.address(false)
		pr.address(false)
		a := pr.arrival()
		expect(t, "exchange", exchangeOf(t, saver, 2), a.Message.Stamp.Exchange)
		pr.quiet()
		expect(t, "messages", 5, len(transcript(t, saver)))
	})
}

// exchangeOf returns the exchange of the message at a position.
func exchangeOf(t *testing.T, saver checkpointer.Saver, seq int64) string {
	t.Helper()
	turn, err := exchange.Begin(t.Context(), saver, thread)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := turn.History()
	if err = errors.Join(err, turn.End()); err != nil {
		t.Fatal(err)
	}
	return messages[seq].Stamp.Exchange
}

// What a late answer cost stands in its stamp, at the price of its member, and its files on its record.
func TestLateAnswerTellsItsCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memory(t)
		view := answers("done")
		view.Reply.Usage = &langrooms.Usage{InputTokens: 1000, OutputTokens: 100}
		view.Reply.Files = []langrooms.Part{{Kind: langrooms.PartBinary, Name: "a.png", MIMEType: "image/png", Data: []byte("png")}}
		price := func(member string) *langrooms.Price {
			return map[string]*langrooms.Price{"slow": {InputPerMTok: 1, OutputPerMTok: 10}}[member]
		}
		pr := startWith(t, late.Config{Saver: saver, Price: price}, &peer{read: after(2, view)})
		pr.address(false)
		a := pr.arrival()
		if u := a.Message.Cost(); u == nil || u.InputTokens != 1000 || u.CostUSD == nil || *u.CostUSD != 0.002 {
			t.Errorf("it cost %+v", u)
		}
		if files := a.Message.Files(); len(files) != 1 || files[0].Name != "a.png" {
			t.Errorf("its files are %+v", files)
		}
		costs, err := exchange.ReadCosts(t.Context(), saver, thread)
		if want := "1 answer, 1,000 tokens in, 100 out, $0.0020"; err != nil || costs.Total.String() != want {
			t.Errorf("the thread cost %s, %v, want %s", costs.Total, err, want)
		}
		pr.quiet()
	})
}
