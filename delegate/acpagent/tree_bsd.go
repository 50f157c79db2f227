//go:build unix && !linux

package acpagent

import "syscall"

// ownGroup puts the process into a group of its own, so that a signal reaches what it
// starts too and the terminal's ^C does not reach it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// marked finds nothing: other processes' environments cannot be read everywhere.
func marked(string) []int { return nil }
