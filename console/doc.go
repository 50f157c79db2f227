// Package console is the room in a browser: a page that uses the server's public API alone.
// Its source is in the folder web, and what is built of it in dist, which the program
// carries; `go install` needs no Node.
//
// The page asks nothing of third parties and runs nothing inline: the Content-Security-Policy
// says so. What a model wrote is no HTML before the page has cleaned it.
//
// # Concurrency
//
// A [Server] is safe for concurrent use and has no goroutines.
package console
