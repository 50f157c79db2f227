// Package clitest runs the module's programs for their tests as what they are: child
// processes in a folder of their own, with peers over HTTP that the test writes down as
// functions.
//
// # Concurrency
//
// Values are for one test, whose goroutines may share them. The functions that answer for
// a peer are called concurrently.
package clitest
