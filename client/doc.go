// Package client asks a langrooms server for what it serves under /api: the roster, the search, and
// what is done to whole threads. Refusals come back as the errors of the packages that they are
// those of on the server, such as thread.ErrNone or lifecycle.ErrNoMessage, by errors.Is. Turns are
// taken by LangGraph's API, for which there are clients.
//
// # Concurrency
//
// A [Client] is safe for concurrent use and has no goroutines of its own.
package client
