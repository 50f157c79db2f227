// Package doctest holds the documents of the repository against what they speak of: code in
// README.md is cut from code that runs, names of symbols, links and command lines exist. It
// has tests only. `go test ./internal/doctest -update` writes the code of README.md anew.
package doctest
