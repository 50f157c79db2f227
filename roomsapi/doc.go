// Package roomsapi serves shared sessions as JSON under /api/rooms, with server-sent events:
// sections 2 and 7 of the shared sessions specification. It is a surface: every rule is
// package sharedsession's.
//
// A room that does not exist and one that the caller is no member of get the same answer
// after the same work, before anything is said about query, body or keys.
//
// # Concurrency
//
// A [Server] is safe for concurrent use. It has no goroutines; its streams end with their
// requests and with the service.
package roomsapi
