//go:build !unix

package clitest

import "syscall"

func asNobody() *syscall.SysProcAttr { return nil }
