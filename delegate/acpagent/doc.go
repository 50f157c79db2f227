// Package acpagent reaches an agent that speaks the Agent Client Protocol (ACP, version 1)
// as a child process: a coding agent such as Claude Code, codex, gemini or opencode.
//
// # Processes
//
// [New] starts nothing. The first Ask of a conversation starts a process, opens a session
// (session/load when an earlier session id is known and the agent can load, else
// session/new) and keeps both for the next address. A request without a conversation key
// has a process of its own, which ends with it. A process is ended, with everything that
// it started, when its turn is stopped or times out and it does not end the turn itself when
// it is told to, after [Config.IdleLimit] without an address, and on Close: its standard input is closed, then the process group gets SIGTERM,
// then SIGKILL, all within 4 s; so is what has left the group, which is found by a mark in
// its environment (Linux only).
//
// When this program itself is killed, Linux kills the agent's own process too (its parent
// death signal). What the agent has started is not reached by that: it sees the end of its
// input, and most programs end then. Other systems give only the end of the input.
//
// # What the agent may do
//
// The agent is told that this client offers neither file system nor terminal: it works
// with its own. Its permission requests are answered by [Config.Permissions] and the
// kinds allowed and denied; with [PermissionsAsk], by a person. What was refused is said in the
// reply. An agent that does not ask for permission is not held by any of this.
//
// # Answers
//
// An answer is the text of the agent's messages, each in a paragraph of its own. What comes
// shortly after the end of a turn belongs to it; what was said before a prompt, as while an
// old session is replayed, to none.
//
// # Secrets
//
// A value that the agent is given in its environment counts as a secret when its
// variable's name says so (KEY, TOKEN, SECRET, …) or when it looks like one: 16 characters
// or more without white space or path separators. Secrets are blotted out of replies, progress and
// errors.
//
// # Concurrency
//
// An [Agent] is safe for concurrent use. Addresses of different conversations run at the
// same time, those of one conversation one after the other.
package acpagent
