// Package a2aserver lets other agents in by A2A (protocol versions 1.0 and 0.3, JSON-RPC and
// HTTP+JSON): a room is one agent to them. The context id is the thread, a message is a run
// (package runs) and the run is the task, so that it outlives its request and can be looked at,
// followed and canceled at any process that serves the store. "@name" in a message addresses a
// delegate; without one the lead answers. Each reply is an artifact that bears its author's
// name; what the room itself has to say is one named "room".
//
// A caller sees the threads that it has made, and an admin all; another's are as not there, and
// so is a context id that nobody has made: a message without one begins a thread. Messages are
// text. Push notifications go to loopback addresses, from the process that was asked for them.
//
// # Concurrency
//
// A [Server] is safe for concurrent use.
package a2aserver
