//go:build unix

package clitest

import "syscall"

func asNobody() *syscall.SysProcAttr {
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
