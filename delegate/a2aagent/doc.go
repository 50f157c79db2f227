// Package a2aagent reaches an agent over the A2A protocol, version 1.0 or 0.3, in its
// JSON-RPC or its HTTP+JSON binding (https://a2a-protocol.org).
//
// One Ask is one message to the peer. The agent card decides, by its shape and the
// versions it names, what is spoken; without a card it is 1.0 over JSON-RPC at the
// configured URL. The peer is asked to hand back its task at once. The task is then
// polled with GetTask after 1, 1.5, 2.25, 3.375 and then every 5 seconds, until it has
// settled; where the card offers streaming, a subscription reports progress and brings
// the next poll forward. The state of the task decides what the answer is, never the
// presence of text. Waiting ends when nothing material has changed for
// [Config.PollTimeout]; the work at the peer goes on, and its task can be resumed or
// collected later.
//
// The SDK's transports write every request. What comes back is read here, from the bytes:
// the SDK hides the HTTP status and a JSON-RPC error's data, refuses bare messages,
// numbers in place of ids and unknown parts, and ends a failed stream in silence.
//
// A peer is never sent anything outside the origin of the configured URL, whatever its
// card or a redirect says: neither the operator's words nor the credential.
//
// # Concurrency
//
// An [Agent] is safe for concurrent use; every Ask is on its own. Progress is reported
// from the goroutine that called Ask. An Ask has at most one goroutine of its own, the
// reader of the subscription, and waits for it. [Agent.Close] ends running Asks and waits
// for them.
package a2aagent
