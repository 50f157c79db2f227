package delegatetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a test that keeps what it is told.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	skipped  string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// record runs one rule against h.
func record(t *testing.T, h Harness, name string) *recorder {
	i := slices.Index(Rules(), name)
	if i < 0 {
		t.Fatalf("there is no rule %q", name)
	}
	r := &recorder{TB: t}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() {
			for _, f := range slices.Backward(r.cleanups) {
				f()
			}
		}()
		rules()[i].run(r, h)
	}()
	<-over
	return r
}

func TestAGoodDelegateKeepsEveryRule(t *testing.T) {
	t.Run("without conversations", func(t *testing.T) { Run(t, harness("", false)) })
	t.Run("with conversations", func(t *testing.T) { Run(t, harness("", true)) })
}

// Each broken delegate fails the suite under the name of the rule that it breaks.
func TestABrokenDelegateFailsUnderTheRulesName(t *testing.T) {
	faults := []struct {
		fault, rule string
		talkative   bool
	}{
		{"info", "info", false},
		{"info-name", "info", false},
		{"probe", "probe", false},
		{"probe-message", "probe", false},
		{"answer", "answer", false},
		{"answer-empty", "answer-empty", false},
		{"usage-lost", "usage", false},
		{"usage-zero", "usage", false},
		{"answer-large", "answer-large", false},
		{"utf8-invalid", "utf8-invalid", false},
		{"utf8-dropped", "utf8-invalid", false},
		{"utf8-split", "utf8-split", false},
		{"progress-utf8", "utf8-split", false},
		{"two-at-once", "two-at-once", false},
		{"conversation", "conversation", false},
		{"conversation-shared", "conversation", true},
		{"conversation-forgotten", "conversation", true},
		{"conversation-new", "conversation", true},
		{"conversation-lost", "conversation-lost", true},
		{"preamble-lost", "preamble", false},
		{"preamble-again", "preamble", true},
		{"files-lost", "files", false},
		{"files-unnamed", "files", false},
		{"returned-lost", "files-returned", false},
		{"returned-believed", "files-returned", false},
		{"returned-name", "files-returned", false},
		{"pause-words", "pause", true},
		{"pause-question", "pause", true},
		{"pause-unmarked", "pause", true},
		{"pause-task", "pause", true},
		{"pause-silent", "pause-silent", true},
		{"epoch-ignored", "epoch", true},
		{"resume", "resume", false},
		{"progress-order", "progress", false},
		{"progress-silent", "progress", false},
		{"progress-at-once", "progress", false},
		{"progress-after-return", "canceled", false},
		{"error-words", "error", false},
		{"error-swallowed", "error", false},
		{"error-type", "error", false},
		{"error-names-another", "error", false},
		{"absent", "absent", false},
		{"absent-accepted", "absent", false},
		{"canceled-kind", "canceled", false},
		{"canceled-before", "canceled-before", false},
		{"stopped-words", "stopped-words", false},
		{"died", "died", false},
		{"secret-reply", "secret", false},
		{"secret-error", "secret", false},
		{"secret-progress", "secret", false},
		{"secret-probe", "secret", false},
		{"secret-word", "secret-word", false},
		{"status", "credential-refused", false},
		{"status", "busy", false},
		{"credential-kind", "credential-refused", false},
		{"credential-probed", "credential-probed", false},
		{"busy-wait", "busy", false},
		{"busy-tries", "busy", false},
		{"busy-once", "busy-once", false},
		{"unavailable-once", "busy-once", false},
		{"late-lost", "late-words", false},
		{"late-next", "late-words", true},
		{"leave-unasked", "leave", false},
		{"leave-given", "leave", false},
		{"leave-ignored", "leave", false},
		{"leave-unsaid", "leave", false},
		{"leave-left", "leave-stopped", false},
		{"elsewhere", "elsewhere", false},
		{"elsewhere-served", "elsewhere", false},
		{"parts", "parts", false},
		{"thought-as-text", "thought", false},
		{"thought-lost", "thought", false},
		{"thought-in-answer", "thought", false},
		{"close-again", "close", false},
		{"close-after", "close-after", false},
		{"close-after-probe", "close-after", false},
		{"close-asking", "close-asking", false},
	}
	for _, f := range faults {
		t.Run(f.fault, func(t *testing.T) {
			r := record(t, harness(f.fault, f.talkative), f.rule)
			if len(r.failures) == 0 {
				t.Fatalf("rule %s did not notice", f.rule)
			}
			for _, failure := range r.failures {
				if !strings.HasPrefix(failure, "rule "+f.rule+" (") {
					t.Errorf("a failure does not name the rule %s: %s", f.rule, failure)
				}
			}
		})
	}
}

// A delegate that never comes back fails when the suite's patience ends.
func TestAHangingDelegateFailsUnderTheRulesName(t *testing.T) {
	for fault, rule := range map[string]string{
		"timeout-kind":       "timeout",
		"canceled-peer-left": "canceled",
		"close-nothing":      "close-asking",
		"never-answers":      "answer",
		"busy-long":          "busy-long",
	} {
		t.Run(fault, func(t *testing.T) {
			h := harness(fault, false)
			h.patience = 200 * time.Millisecond
			r := record(t, h, rule)
			if len(r.failures) == 0 || !strings.HasPrefix(r.failures[0], "rule "+rule+" (") || !strings.Contains(r.failures[0], "200ms") {
				t.Errorf("failures = %q", r.failures)
			}
		})
	}
}

// A peer that answers without the script is told so as soon as it has answered, however long
// the suite would wait.
func TestAPeerThatDoesNotPlayTheScriptIsTold(t *testing.T) {
	for _, rule := range []string{"answer", "canceled", "close-after", "close-asking"} {
		t.Run(rule, func(t *testing.T) {
			h := harness("unplayed", false)
			h.patience = time.Hour
			r := record(t, h, rule)
			const want = `the peer has received no message: it must play the script (Script.Play); Ask returned "mine", <nil>`
			if len(r.failures) != 1 || !strings.Contains(r.failures[0], want) {
				t.Errorf("failures = %q", r.failures)
			}
		})
	}
}

// A peer that nobody tells to stop ends with its rule.
func TestAHeldPeerEndsWithItsRule(t *testing.T) {
	c := listen(t)
	script := Script{Control: c.listener.Addr().String(), End: EndHold}
	over := make(chan error)
	go func() {
		over <- script.Play(context.Background(), Message{Prompt: "hi"}, func([]byte) error { return nil })
	}()
	m := <-c.arrived
	c.close()
	if err := <-over; err == nil || !strings.Contains(err.Error(), "the rule is over") {
		t.Errorf("Play = %v", err)
	}
	<-m.gone
}

func TestAnExceptionIsPrinted(t *testing.T) {
	h := harness("answer", false)
	h.Except = map[string]string{"answer": "the protocol folds white space"}
	r := record(t, h, "answer")
	if len(r.failures) > 0 || !strings.Contains(r.skipped, "the protocol folds white space") {
		t.Errorf("failures %q, skipped %q", r.failures, r.skipped)
	}
}

func TestAHarnessIsChecked(t *testing.T) {
	good := harness("", false)
	if err := good.check(); err != nil {
		t.Error(err)
	}
	without, unknown, silent := good, good, good
	without.Absent = nil
	unknown.Except = map[string]string{"nonsense": "because"}
	silent.Except = map[string]string{"answer": ""}
	for _, test := range []struct {
		h    Harness
		want string
	}{{without, "Absent"}, {unknown, `"nonsense"`}, {silent, "without a reason"}} {
		if err := test.h.check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("check = %v, want %q", err, test.want)
		}
	}
}

func TestScriptSurvivesAsOneWord(t *testing.T) {
	s := Script{Control: "127.0.0.1:1", Secret: "a b", Pieces: [][]byte{{0xff, '\n'}}, Repeat: 2, End: EndFail, Words: "é"}
	got, err := DecodeScript(s.Encode())
	if err != nil || fmt.Sprint(got) != fmt.Sprint(s) || strings.ContainsAny(s.Encode(), " \n") {
		t.Errorf("DecodeScript = %+v, %v", got, err)
	}
	for _, bad := range []string{"%", "bm8="} {
		if _, err := DecodeScript(bad); err == nil {
			t.Errorf("DecodeScript(%q) succeeded", bad)
		}
	}
}

// A delegate that breaks a rule a thousand times over with a large answer is told in few words.
func TestBrokenRuleIsTold(t *testing.T) {
	r := &run{TB: &recorder{TB: t}}
	r.rule.name, r.rule.want = "large", "it is large"
	for range 1000 {
		r.broken("%q", strings.Repeat("é", 1_000_000))
	}
	told := r.TB.(*recorder).failures
	if len(told) != maxBroken+1 || !strings.Contains(told[0], "bytes left out") || !strings.Contains(told[maxBroken], "more of it is not shown") {
		t.Errorf("%d failures, the last %q", len(told), told[len(told)-1])
	}
	if n := len(strings.Join(told, "\n")); n > 12_000 {
		t.Errorf("%d bytes are told", n)
	}
}
