//go:build race

package sqlitesaver_test

// The race detector makes each put of the rule long-history ten times as dear.
func init() { history = 2000 }
