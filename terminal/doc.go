// Package terminal is the chat front end of the programs: one message, a line a turn, or
// a conversation at a terminal, as plain text or as one JSON object per line.
//
// Text of a delegate or a model never reaches the output with its control sequences.
//
// # Concurrency
//
// A [Printer] is safe for concurrent use; a [Chat] runs once.
package terminal
