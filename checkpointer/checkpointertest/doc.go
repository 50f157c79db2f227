// Package checkpointertest is the conformance suite of package checkpointer: every
// store runs [Run], and a store that passes keeps the port's contract.
//
// Each rule is a subtest of its own name, and each failure message begins with that
// name. The suite is itself tested with deliberately broken stores, each of which must
// fail the rule that it breaks.
//
// # Concurrency
//
// Rules run one after another. A rule that is about concurrency starts goroutines of
// its own and waits for them.
package checkpointertest
