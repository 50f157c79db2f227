// Package runs takes turns that outlive the request that asked for them: a run is accepted,
// waits its turn on its thread, is followed by any number of readers, joined again after a
// broken line, and cancelled. The surfaces of a server (LangGraph's API, A2A, ACP) are views
// of it.
//
// What a run did stands on its thread, as after any turn. Beside that the package keeps two
// things in the same store: a record of each run, in a namespace of the thread, which goes
// when the thread is deleted; and the events of a run, on a thread of their own that ends some
// minutes after the run. Both can be read by every process that serves the store, so that a
// client may come back to another one. A run whose process has died is closed as failed by
// whoever meets it.
//
// # Concurrency
//
// A [Manager] is safe for concurrent use. Its goroutines end with [Manager.Close], which
// waits for them.
package runs
