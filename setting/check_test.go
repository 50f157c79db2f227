package setting_test

import (
	"testing"

	"github.com/langrooms/langrooms/setting"
)

func TestRedactURL(t *testing.T) {
	for in, want := range map[string]string{
		"sqlite:/a@b/c.db":                       "sqlite:/a@b/c.db",
		"memory:":                                "memory:",
		"redis://h:1/0":                          "redis://h:1/0",
		"redis://u:p@ss@h:1/0":                   "redis://***@h:1/0",
		"redis+sentinel://:p@a:1,b:2/m?db=1":     "redis+sentinel://***@a:1,b:2/m?db=1",
		"rediss://h:1?password=x&db=2":           "rediss://h:1?***",
		"https://h/rpc?api_key=x":                "https://h/rpc?***",
		"https://h/rpc?v=1&Signature=x":          "https://h/rpc?***",
		"redis+sentinel://u:a/b@h?sentinel_key=": "redis+sentinel://***@h?***",
	} {
		if got := setting.RedactURL(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
