package names_test

import (
	"testing"

	"github.com/langrooms/langrooms/internal/names"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		bound, want int
	}{
		{"", "", 2, 0}, {"proto", "prto", 2, 1}, {"prto", "proto", 2, 1}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 3},
		{"åäö", "aao", 9, 3}, {"a", "abcdef", 2, 3}, {"abc", "xyz", 1, 2},
	} {
		if got := names.Distance(tt.a, tt.b, tt.bound); got != tt.want {
			t.Errorf("%q to %q within %d: %d, want %d", tt.a, tt.b, tt.bound, got, tt.want)
		}
	}
}
