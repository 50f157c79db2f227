// Package delegate is the port to the agents of the roster: what a [Delegate] is, which
// kinds of failure it can have, and the [Registry], the roster as a value that is swapped
// whole. The protocols live in packages of their own: a2aagent, acpagent, openaiagent.
// Package delegate/delegatetest is the conformance suite that each of them runs.
//
// # Concurrency
//
// Delegates, registries and stores of this package are safe for concurrent use. Requests,
// replies and errors are values.
package delegate
