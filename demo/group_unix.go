//go:build unix && !linux

package demo

import (
	"os"
	"syscall"
)

// ownGroup puts a command into a process group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
