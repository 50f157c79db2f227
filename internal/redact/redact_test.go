package redact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Words that stand in keys of local servers, in variables with a secret's name, and in
// honest sentences are never taken out; whatever was made by a machine is.
func TestIsSecret(t *testing.T) {
	for _, word := range []string{
		"", "test", "ollama", "EMPTY", "lm-studio", "none", "master", "sk-1234", "0123456789a",
		"authentication", "Internationalization", "not-needed-here", "sk-no-key-required", "your-api-key-here",
		"your_api_key_here", "sk-000000000000", "xxxxxxxxxxxxxxxx", "localhost-key-1", "inherited-token", "developmentEnvironment",
	} {
		if isSecret(word) {
			t.Errorf("%q (%d bits) is taken for a secret", word, bits(word))
		}
	}
	for _, secret := range []string{
		"sk-planted-0123456789", "planted-secret-7f3a9c", "planted-token-5e1f77", "planted-&-key-91b7", `sk-pl"anted/\key+1`,
		"7f3a9c5e1f77", "correct-horse-battery-staple", "aBcDxYqRtUvW", "qzxjkvwpyfghqzxjkvwpyfgh", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"ghp_x0Vk2Yp9s", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "Tr0ub4dor&3-Tr0", "пароль-7ж3к9-ключ4",
	} {
		if !isSecret(secret) {
			t.Errorf("%q (%d bits) is not taken for a secret", secret, bits(secret))
		}
	}
}

func TestNamesSecret(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "apikey", "PGPASSWORD", "DB_PASS", "GOOGLE_CREDENTIALS", "SECRET_KEY_BASE", "GITHUB_PAT"} {
		if !NamesSecret(name) {
			t.Errorf("%s is not taken for a secret's name", name)
		}
	}
	for _, name := range []string{"KEYCLOAK_REALM", "KEYBOARD_LAYOUT", "TOKENIZERS_PARALLELISM", "PATH", "PWD", "COMPASS_URL", "SECRETARY", ""} {
		if NamesSecret(name) {
			t.Errorf("%s is taken for a secret's name", name)
		}
	}
}

func ExampleSet_Text() {
	s := New(`sk-"quoted"-4f89/11`, "ollama")
	fmt.Println(s.Text(`sk-"quoted"-4f89/11 | sk-\"quoted\"-4f89/11 | sk-%22quoted%22-4f89%2F11 | ollama pull`))
	// Output: [redacted] | [redacted] | [redacted] | ollama pull
}

func TestOneInsideAnother(t *testing.T) {
	const inner, outer = "sk-4f8911d39a0c", "sk-4f8911d39a0c-and-0305e82c3301"
	if got := New(inner, outer).Text(outer + " " + inner); got != mask+" "+mask {
		t.Errorf("left: %s", got)
	}
}

func TestErrorKeepsWhatItIs(t *testing.T) {
	const secret = "sk-4f8911d39a0c"
	s := New(secret)
	plain := errors.New("no")
	if s.Error(plain) != plain || s.Error(nil) != nil {
		t.Error("an error without a secret was changed")
	}
	err := s.Error(fmt.Errorf("key %s: %w", secret, context.Canceled))
	if err.Error() != "key [redacted]: context canceled" || !errors.Is(err, context.Canceled) || errors.Unwrap(err) != nil {
		t.Errorf("got %v, unwraps to %v", err, errors.Unwrap(err))
	}
}

// A secret is taken out however the text is cut.
func FuzzStream(f *testing.F) {
	const secret = "sk-4f8911d39a0c"
	f.Add("the sk-4f8sk-4f8911d39a0c is "+secret, []byte{6, 3, 9})
	f.Add("ends as it begins: sk-4f8", []byte{1, 1})
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		s := New(secret).Stream()
		var got strings.Builder
		rest := text
		for _, n := range cuts {
			at := min(int(n), len(rest))
			got.WriteString(s.Next(rest[:at]))
			rest = rest[at:]
		}
		got.WriteString(s.Next(rest))
		got.WriteString(s.Rest())
		if want := strings.ReplaceAll(text, secret, mask); got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	})
}
