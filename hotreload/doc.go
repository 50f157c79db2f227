// Package hotreload is the configuration file, langgraph-config.yaml: it is parsed
// strictly, clamped, watched while the program runs, and saved so that one value changes
// and no other byte.
package hotreload
