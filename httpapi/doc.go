// Package httpapi serves under /api what LangGraph's API has no word for: whom a text
// addresses, who is on the roster, what members ask leave for, and the settings of the configuration file. It is a
// surface: the rules are those of packages room, sharedsession and hotreload.
//
// Refusals are {"detail": {"code": …, "message": …}}.
//
// # Concurrency
//
// A [Server] is safe for concurrent use and has no goroutines.
package httpapi
