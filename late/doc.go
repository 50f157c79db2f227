// Package late brings home what arrives outside of a turn: late answers of members whose
// address gave up while they were still working, and the answers of delegations in the
// background. Each lands on its thread as the member's own message, and the lead is given a
// turn to take it in (spec: rooms, 7.5 and 8).
//
// # Concurrency
//
// An [Inbox] is safe for concurrent use. Its goroutines end with [Inbox.Close], which waits
// for them.
package late
