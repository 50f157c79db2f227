package demo

import (
	"os"
	"syscall"
)

// ownGroup puts a command into a process group of its own. The kernel ends the command when
// this process is killed and cannot do it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
