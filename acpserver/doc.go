// Package acpserver is a room as an agent of the Agent Client Protocol (version 1), for editors
// and other clients that start agents as programs and talk to them over standard input and
// output. A session is a thread and its id the thread's; a prompt is a run (package runs). What
// members say comes as it is said, with the author's name in front. What members ask leave for is
// asked of the client.
//
// # Concurrency
//
// A [Server] serves one connection, by [Server.Serve]. [Server.Permission] is safe for concurrent
// use.
package acpserver
