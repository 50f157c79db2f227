// Package lifecycle is what can be done with a whole thread: rewind it to a message, delete
// it, fork it to a new one, compact it, export and import it (spec: rooms, section 11).
// Every operation holds the thread, so it waits for a turn that is running.
//
// Rewind and delete are final for readers: what was erased comes back neither through a
// window nor through a late answer, a peer's conversation or a stale process.
//
// # Concurrency
//
// [Threads] is safe for concurrent use.
package lifecycle
