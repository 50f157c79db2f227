// Package record holds what every store of package checkpointer does alike: it checks
// arguments, turns messages into stored bytes and back, and digests a step so that a
// repeated put is recognised.
//
// # Concurrency
//
// All functions are pure.
package record
