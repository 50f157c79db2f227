//go:build !unix

package acpagent

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// terminateGroup does nothing: there is no polite signal.
func terminateGroup(int) {}

// killTree ends the process itself; there are no process groups.
func killTree(pid int, _ string) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // gone is as good
	}
}
