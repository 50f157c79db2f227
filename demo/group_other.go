//go:build !unix

package demo

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup ends the command itself: there are no process groups here.
func killGroup(p *os.Process) error { return p.Kill() }
