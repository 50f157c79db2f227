// Package delegatetool gives the lead's model the tools delegate_to and list_delegates: a
// delegation is an address into the room like any other, by the lead instead of the
// operator (spec: rooms, section 8). Naming the cast never limits it: every delegate on the
// roster can be reached.
//
// # Concurrency
//
// The tools are safe for concurrent use.
package delegatetool
