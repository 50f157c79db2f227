package delegatetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// Harness joins an implementation to the suite.
type Harness struct {
	// Start begins a real peer that follows script and returns a delegate for it, whose
	// credential, where the protocol has one, is script.Secret. The peer ends with t.
	// The suite closes the delegate. Required.
	Start func(t testing.TB, script Script) delegate.Delegate
	// Absent returns a delegate whose peer is not there: nothing listens, or there is
	// no such command. Required.
	Absent func(t testing.TB) delegate.Delegate
	// Streams says that pieces of an answer are reported as progress.
	Streams bool
	// Except has the rules that the protocol cannot show, each with the reason.
	Except map[string]string

	// patience is how long a rule waits for what must come soon, also from a child process
	// on a busy machine; 0 means 15 s. The large answer has largePatience.
	patience time.Duration
}

// secret is planted as the credential; nothing that a delegate gives out may hold it.
const secret = "planted-secret-7f3a9c"

// rule is one part of the contract.
type rule struct {
	name string
	// want says it in words.
	want  string
	check func(*run)
}

func rules() []rule {
	return slices.Concat(answerRules, fileRules, turnRules, failureRules, refusalRules, lifeRules)
}

// Rules lists the names of the rules, in the order in which [Run] checks them.
func Rules() []string {
	var names []string
	for _, r := range rules() {
		names = append(names, r.name)
	}
	return names
}

// Run checks h against every rule of the contract, each in a subtest of its name.
func Run(t *testing.T, h Harness) {
	if err := h.check(); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) { r.run(t, h) })
	}
}

// check reports a harness that cannot be used.
func (h Harness) check() error {
	if h.Start == nil || h.Absent == nil {
		return errors.New("delegatetest: the harness needs Start and Absent")
	}
	for name, reason := range h.Except {
		if !slices.Contains(Rules(), name) {
			return fmt.Errorf("delegatetest: the harness excepts %q, which is no rule", name)
		}
		if reason == "" {
			return fmt.Errorf("delegatetest: the harness excepts %q without a reason", name)
		}
	}
	return nil
}

func (r rule) run(t testing.TB, h Harness) {
	if reason, excepted := h.Except[r.name]; excepted {
		t.Skipf("rule %s is not shown: %s", r.name, reason)
	}
	h.patience = cmp.Or(h.patience, 15*time.Second)
	open, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	r.check(&run{TB: t, Harness: h, rule: r, open: open, end: end, control: listen(t)})
}
