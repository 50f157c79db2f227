package acpagent

import (
	"maps"
	"slices"
	"strings"
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

// secrets returns the values of the environment that must not be shown.
func (c Config) secrets(environment []string) []string {
	var values []string
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		_, given := c.Env[name]
		if len(value) >= minSecret && (namesSecret(name) || given && looksSecret(value)) {
			values = append(values, value)
		}
	}
	return values
}

// minSecret is the shortest value in bytes that is taken for a secret: shorter ones occur
// in ordinary words.
const minSecret = 6

func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "COOKIE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func looksSecret(value string) bool {
	return len(value) >= 16 && !strings.ContainsAny(value, "/\\ \t\r\n")
}
