package acpagent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownGroup puts the process into a group of its own, so that a signal reaches what it
// starts too and the terminal's ^C does not reach it, and lets the kernel kill it when
// this program dies without a word.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// marked returns the processes, not yet dead, whose environment holds mark.
func marked(mark string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file) // fails for other users' processes, is empty for dead ones
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
