// Package delegatetest is the conformance suite of the delegate port: [Run] holds an
// implementation of [delegate.Delegate] against the contract, with a real peer behind it.
//
// The implementation's test gives a [Harness], whose Start begins a peer that follows a
// [Script]. A script is plain data, so the peer may be a server in the test's process or
// a child process that was given [Script.Encode]; wherever it is, it calls [Script.Play]
// for each message it receives and puts what Play says into its protocol. The Example is
// the shortest harness, with a delegate that keeps every rule.
//
// Each rule is a subtest; a failure names the rule and says what the contract wants. A
// rule that a protocol cannot show is excepted with a reason, which is printed.
//
// # Concurrency
//
// Run and its rules use goroutines, which end before Run returns. Play is called by the
// peer, also from many goroutines at once.
package delegatetest
