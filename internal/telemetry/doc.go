// Package telemetry shows a server from outside: log records, metrics for Prometheus. Both say
// who was asked when, for how long and how it ended; neither holds a word of a message, a text of
// an error, a query or a key. A thread is named by its id.
//
// It also bounds how long a client may take to take in what is written to it, since that is where
// every answer passes.
//
// # Concurrency
//
// A [Telemetry] is safe for concurrent use. It starts no goroutines.
package telemetry
