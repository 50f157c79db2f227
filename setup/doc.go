// Package setup turns a configuration into the parts that both programs wire together: the
// saver, the live roster, the lead's model, the knobs. An [App] follows the file while it
// runs.
//
// It is what a program of your own can start from; nothing else in the module needs it.
// [Options] take the program's own delegates, store and model beside those of the file;
// [RegisterType] and [RegisterStore] add protocols and stores that the file may name.
//
// # Concurrency
//
// An [App] is safe for concurrent use.
package setup
