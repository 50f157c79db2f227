package setting

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"unicode"
)

// Secret is a credential: written in the file, or named by an environment variable. It
// never shows itself: every way of printing or marshalling it gives "(hidden)",
// "($NAME)" or "". Secrets compare with ==: equal when the file says the same.
type Secret struct {
	literal, env string
}

// NewSecret returns a secret with a literal value.
func NewSecret(value string) Secret { return Secret{literal: value} }

// FromEnv returns a secret that is read from the environment variable when it is used.
func FromEnv(variable string) Secret { return Secret{env: variable} }

// IsZero reports whether no secret is configured.
func (s Secret) IsZero() bool { return s == Secret{} }

// Env returns the name of the environment variable, or "" for a literal secret.
func (s Secret) Env() string { return s.env }

// Literal returns the value that stands in the file itself, or "" for a variable's. It is for
// whoever writes the file.
func (s Secret) Literal() string { return s.literal }

// Resolve returns the secret's value; "" when none is configured. A variable is read at
// each call, so that a rotated secret needs no edit; white space around its value is
// dropped. A variable that is missing or empty, and a value with control characters, which
// could break a header, are errors that name the variable and never the value.
func (s Secret) Resolve() (string, error) {
	if s.env == "" {
		return s.literal, nil
	}
	v := strings.TrimSpace(os.Getenv(s.env))
	if v == "" {
		return "", fmt.Errorf("environment variable %s is not set or empty", s.env)
	}
	if strings.ContainsFunc(v, unicode.IsControl) {
		return "", fmt.Errorf("environment variable %s holds control characters", s.env)
	}
	return v, nil
}

// String says that there is a secret, or which variable holds it, never its value.
func (s Secret) String() string {
	switch {
	case s.env != "":
		return "($" + s.env + ")"
	case s.literal != "":
		return "(hidden)"
	}
	return ""
}

// GoString returns the same as String.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns the same as String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns String as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue returns the same as String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
