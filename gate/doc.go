// Package gate stands in front of everything that a server answers: it says who is asking, and
// turns away who may not, what is too large or too often, and pages of strangers that drive a
// browser on somebody's machine.
//
// The identity comes from the credential alone (spec: shared sessions, 1.1): a key is sent as
// `Authorization: Bearer KEY`, as `X-Api-Key: KEY`, or in the cookie that the console's sign-in
// has set. Keys are compared as digests, in constant time. A server without keys listens on
// loopback only, and there every caller is the operator.
//
// # Concurrency
//
// A [Gate] is safe for concurrent use.
package gate
