package acpagent

import (
	"maps"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/internal/redact"
)

// environment returns what the process gets: inherited without EnvRemove's names, then
// Env. Each name comes once.
func (c Config) environment(inherited []string) []string {
	env := make(map[string]string, len(inherited)+len(c.Env))
	for _, pair := range inherited {
		name, value, ok := strings.Cut(pair, "=")
		if ok && !c.removes(name) {
			env[name] = value
		}
	}
	maps.Copy(env, c.Env)
	pairs := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		pairs = append(pairs, name+"="+env[name])
	}
	return pairs
}

func (c Config) removes(name string) bool {
	for _, r := range c.EnvRemove {
		if name == r || strings.HasSuffix(r, "_") && strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}

// secrets returns the values of the variables that are named as ones for secrets are.
func secrets(environment []string) []string {
	var values []string
	for _, pair := range environment {
		if name, value, _ := strings.Cut(pair, "="); redact.NamesSecret(name) {
			values = append(values, value)
		}
	}
	return values
}
