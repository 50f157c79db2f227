package checkpointertest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

// Ability names one of the port's optional interfaces.
type Ability string

// The abilities, by the names of their interfaces.
const (
	Locker      Ability = "Locker"
	HeadLocker  Ability = "HeadLocker"
	Lister      Ability = "Lister"
	Forker      Ability = "Forker"
	Pruner      Ability = "Pruner"
	Compacter   Ability = "Compacter"
	Expirer     Ability = "Expirer"
	Watcher     Ability = "Watcher"
	Snapshotter Ability = "Snapshotter"
	Copier      Ability = "Copier"
	Logger      Ability = "Logger"
	Selector    Ability = "Selector"
	Walker      Ability = "Walker"
)

// AllAbilities lists every ability, for a store that has them all.
func AllAbilities() []Ability {
	return []Ability{Locker, Lister, Forker, Pruner, Compacter, Expirer, Watcher, Snapshotter,
		HeadLocker, Copier, Logger, Selector, Walker}
}

// Config says what the store under test offers.
type Config struct {
	// Abilities are those that the saver must have. The rules of an ability that is not
	// listed are not run; a listed one that the saver lacks is a failure that ends [Run]
	// before the first rule.
	Abilities []Ability
	// Reopen returns a second handle on the data of s, which stays open, and registers
	// its cleanup. It is called several times for one s. Nil, for a store that lives in
	// one saver value, leaves out the rules about several handles.
	Reopen func(t testing.TB, s checkpointer.Saver) checkpointer.Saver
	// Contains says whether text is anywhere in the data of s. Nil leaves out the rule that
	// what is pruned is gone from the store.
	Contains func(t testing.TB, s checkpointer.Saver, text string) bool
	// SmallOnly takes values of 1 MiB where the rules want the greatest, which needs some
	// 500 MiB of memory. With -short it is set.
	SmallOnly bool
	// History is the number of checkpoints in the rule long-history. Default 10,000, or
	// 1,000 with -short; at least 1,000.
	History int
}

// Run checks every rule of the port as a subtest named after the rule. The function
// open returns a fresh, empty saver and registers its cleanup with t; the suite may close
// the saver before that.
func Run(t *testing.T, open func(t testing.TB) checkpointer.Saver, cfg Config) {
	t.Helper()
	cfg.check(t, open(t))
	if cfg.History == 0 && testing.Short() {
		cfg.History = 1000
	}
	cfg.SmallOnly = cfg.SmallOnly || testing.Short()
	for _, rule := range rules() {
		if rule.shared && cfg.Reopen == nil {
			continue
		}
		if rule.needs != "" && !slices.Contains(cfg.Abilities, rule.needs) {
			continue
		}
		t.Run(rule.name, func(t *testing.T) { rule.run(t, open, cfg) })
	}
}

// rule is one sentence of the contract.
type rule struct {
	name string
	// needs is the ability that the rule is about, if any.
	needs Ability
	// shared rules need Config.Reopen.
	shared bool
	check  func(r *check)
}

func (r rule) run(t testing.TB, open func(t testing.TB) checkpointer.Saver, cfg Config) {
	if cfg.History == 0 {
		cfg.History = 10_000
	}
	r.check(&check{TB: t, rule: r.name, open: open, cfg: cfg, patience: 30 * time.Second})
}

func rules() []rule {
	return slices.Concat(putRules(), channelRules(), repeatRules(), writeRules(),
		listRules(), messageRules(), changeRules(), branchRules(), idRules(), memoryRules(),
		argumentRules(), endRules(), raceRules(), fenceRules(), lockRules(), listerRules(),
		forkRules(), pruneRules(), compactRules(), expireRules(), watchRules(), snapshotRules(),
		sharedRules(), versionRules(), selectRules(), queryRules(), logRules(), wholeRules(), turnRules())
}

// check is a rule being checked on one store. Its failures name the rule.
type check struct {
	testing.TB
	rule string
	open func(t testing.TB) checkpointer.Saver
	cfg  Config
	// patience bounds every wait.
	patience time.Duration
}

// Errorf reports a failure of the rule.
func (c *check) Errorf(format string, args ...any) {
	c.Helper()
	c.TB.Errorf("rule %s: %s", c.rule, fmt.Sprintf(format, args...))
}

// Fatalf reports a failure of the rule and ends it.
func (c *check) Fatalf(format string, args ...any) {
	c.Helper()
	c.TB.Fatalf("rule %s: %s", c.rule, fmt.Sprintf(format, args...))
}

// saver opens a fresh store.
func (c *check) saver() checkpointer.Saver {
	c.Helper()
	return c.open(c.TB)
}

// ok ends the rule when err is set.
func (c *check) ok(err error, format string, args ...any) {
	c.Helper()
	if err != nil {
		c.Fatalf("%s: unexpected error: %v", fmt.Sprintf(format, args...), err)
	}
}

// is reports when err is not target.
func (c *check) is(err, target error, format string, args ...any) {
	c.Helper()
	if !errors.Is(err, target) {
		c.Errorf("%s: got error %v, want %v", fmt.Sprintf(format, args...), err, target)
	}
}

// check ends the test when s lacks a listed ability: rules that need it could not run.
func (cfg Config) check(t testing.TB, s checkpointer.Saver) {
	t.Helper()
	lacks := slices.DeleteFunc(slices.Clone(cfg.Abilities), func(a Ability) bool { return has(s, a) })
	if len(lacks) > 0 {
		t.Fatalf("checkpointertest: Config.Abilities lists %v, which the saver %T lacks", lacks, s)
	}
}

func has(s checkpointer.Saver, a Ability) (ok bool) {
	switch a {
	case Locker:
		_, ok = s.(checkpointer.Locker)
	case Lister:
		_, ok = s.(checkpointer.Lister)
	case Forker:
		_, ok = s.(checkpointer.Forker)
	case Pruner:
		_, ok = s.(checkpointer.Pruner)
	case Compacter:
		_, ok = s.(checkpointer.Compacter)
	case Expirer:
		_, ok = s.(checkpointer.Expirer)
	case Watcher:
		_, ok = s.(checkpointer.Watcher)
	case Snapshotter:
		_, ok = s.(checkpointer.Snapshotter)
	case HeadLocker:
		_, ok = s.(checkpointer.HeadLocker)
	case Copier:
		_, ok = s.(checkpointer.Copier)
	case Logger:
		_, ok = s.(checkpointer.Logger)
	case Selector:
		_, ok = s.(checkpointer.Selector)
	case Walker:
		_, ok = s.(checkpointer.Walker)
	}
	return ok
}

// ability returns s as the interface A, or ends the rule.
func ability[A any](c *check, s checkpointer.Saver) A {
	c.Helper()
	a, ok := s.(A)
	if !ok {
		c.Fatalf("the saver %T, unlike the first that was opened, lacks the ability %v", s, reflect.TypeFor[A]())
	}
	return a
}
