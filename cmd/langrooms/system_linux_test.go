package main

import "syscall"

// mountSmall mounts a file system of 1 MB.
func mountSmall(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") }

func unmount(dir string) { _ = syscall.Unmount(dir, syscall.MNT_DETACH) } // its folder goes away with the test
