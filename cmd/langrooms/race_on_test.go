//go:build race

package main

// raced says that the race detector is at work, under which everything takes more memory.
const raced = true
