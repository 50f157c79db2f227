//go:build unix

package acpagent

import "syscall"

// terminateGroup asks every process of the group to end.
func terminateGroup(group int) { signalGroup(group, syscall.SIGTERM) }

// killTree kills the group and whatever carries the mark outside of it. What was being
// forked during one pass is found by the next.
func killTree(group int, mark string) {
	signalGroup(group, syscall.SIGKILL)
	for range 10 {
		pids := marked(mark)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone is as good
		}
	}
}

// signalGroup signals the group. A group that is gone is as good, and members that run as
// somebody else cannot be reached.
func signalGroup(group int, sig syscall.Signal) { _ = syscall.Kill(-group, sig) }
