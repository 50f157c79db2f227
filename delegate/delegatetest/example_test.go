package delegatetest_test

import (
	"fmt"

	"github.com/langrooms/langrooms/delegate/delegatetest"
)

// A peer in a child process is given its script in one word.
func ExampleScript_Encode() {
	script := delegatetest.Script{End: delegatetest.EndFail, Words: "the disk is full"}

	child, err := delegatetest.DecodeScript(script.Encode())
	fmt.Println(child.End, child.Words, err)
	// Output: fail the disk is full <nil>
}
