package hotreload

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReplace shows that one value changes and every other byte stays.
func TestReplace(t *testing.T) {
	tests := []struct {
		name, in, key, value, want string
	}{
		{"a value, its comment and spacing", "# top\nroom:\n  max_rounds:   3   # rounds\n\nx: 1\n", "room.max_rounds", "5", "# top\nroom:\n  max_rounds:   5   # rounds\n\nx: 1\n"},
		{"double quotes are kept", "room: { max_rounds: \"3\" }\n", "room.max_rounds", "5", "room: { max_rounds: \"5\" }\n"},
		{"single quotes are kept", "identity: {name: 'lead'}\n", "identity.name", "boss", "identity: {name: 'boss'}\n"},
		{"quotes go where they would make a number text", "model: { timeout_s: \"3\" }\n", "model.timeout_s", "5", "model: { timeout_s: 5 }\n"},
		{"quotes come where they are needed", "identity:\n  name: lead\n", "identity.name", "7", "identity:\n  name: \"7\"\n"},
		{"a word that could be a truth value", "identity:\n  name: lead\n", "identity.name", "no", "identity:\n  name: \"no\"\n"},
		{"CRLF", "room:\r\n  max_rounds: 3\r\n", "room.max_rounds", "5", "room:\r\n  max_rounds: 5\r\n"},
		{"CRLF, a new key", "room:\r\n  max_rounds: 3\r\n", "room.catchup_max_chars", "5", "room:\r\n  max_rounds: 3\r\n  catchup_max_chars: 5\r\n"},
		{"a byte order mark", "\ufeffroom: {max_rounds: 3}\n", "room.max_rounds", "5", "\ufeffroom: {max_rounds: 5}\n"},
		{"text before it of more than a byte per letter", "x-ü: { größe: 1 }\nroom: { x-é: 'ü', max_rounds: 3 } # ä\n", "room.max_rounds", "5", "x-ü: { größe: 1 }\nroom: { x-é: 'ü', max_rounds: 5 } # ä\n"},
		{"no line end at the end", "room:\n  max_rounds: 3", "room.catchup_max_chars", "5", "room:\n  max_rounds: 3\n  catchup_max_chars: 5"},
		{"an empty file", "", "room.max_rounds", "5", "room:\n  max_rounds: 5\n"},
		{"comments only", "# mine\n", "room.max_rounds", "5", "# mine\nroom:\n  max_rounds: 5\n"},
		{"a new section goes to the end", "identity:\n  name: a\n# tail\n", "room.max_rounds", "5", "identity:\n  name: a\n# tail\nroom:\n  max_rounds: 5\n"},
		{"before the end mark of the document", "identity:\n  name: a\n...\n", "room.max_rounds", "5", "identity:\n  name: a\nroom:\n  max_rounds: 5\n...\n"},
		{"a new key goes behind its siblings", "room:\n  max_rounds: 3 # r\n\n# next\ncontinuity: memory\n", "room.catchup_max_chars", "9", "room:\n  max_rounds: 3 # r\n  catchup_max_chars: 9\n\n# next\ncontinuity: memory\n"},
		{"a new section in a section", "shared_sessions:\n    enabled: true\n", "shared_sessions.defaults.ttl_hours", "0", "shared_sessions:\n    enabled: true\n    defaults:\n      ttl_hours: 0\n"},
		{"a value that is not there yet", "room:\n  max_rounds: # none\n", "room.max_rounds", "5", "room:\n  max_rounds: 5 # none\n"},
		{"a heading with nothing under it", "room: # knobs\ncontinuity: memory\n", "room.max_rounds", "5", "room: # knobs\n  max_rounds: 5\ncontinuity: memory\n"},
		{"a section that is null", "room: ~ # knobs\n", "room.max_rounds", "5", "room: {max_rounds: 5} # knobs\n"},
		{"a section in braces", "room: { max_rounds: 3 }\n", "room.catchup_max_chars", "9", "room: {catchup_max_chars: 9,  max_rounds: 3 }\n"},
		{"empty braces", "room: {}\n", "room.max_rounds", "5", "room: {max_rounds: 5}\n"},
		{"JSON stays JSON", `{"identity": {"name": "a"}}`, "continuity", "durable", `{"continuity": "durable", "identity": {"name": "a"}}`},
		{"an alias", "x-n: &n 3\nroom: { max_rounds: *n, catchup_max_chars: *n }\n", "room.max_rounds", "5", "x-n: &n 3\nroom: { max_rounds: 5, catchup_max_chars: *n }\n"},
		{"over a merge key", "x-r: &r { max_rounds: 3 }\nroom:\n  <<: *r\n", "room.max_rounds", "5", "x-r: &r { max_rounds: 3 }\nroom:\n  <<: *r\n  max_rounds: 5\n"},
		{"an anchor that nobody uses", "room:\n  max_rounds: &n 3\n", "room.max_rounds", "5", "room:\n  max_rounds: &n 5\n"},
		{"behind a text over several lines", "identity: { name: 'a' }\nmodel:\n  model: one\n    two\n  # end\nroom:\n  max_rounds: 3\n", "model.url", "http://h/v1", "identity: { name: 'a' }\nmodel:\n  model: one\n    two\n  url: http://h/v1\n  # end\nroom:\n  max_rounds: 3\n"},
		{"a value over several lines", "model:\n  model: one\n    two # c\n", "model.model", "three", "model:\n  model: three # c\n"},
		{"above the ceiling by hand, another key", "room: { max_rounds: 99, catchup_max_chars: 5 }\n", "room.catchup_max_chars", "6", "room: { max_rounds: 99, catchup_max_chars: 6 }\n"},
		{"a leading zero is no octal number", "room: { max_rounds: 3 }\n", "room.max_rounds", "007", "room: { max_rounds: 7 }\n"},
		{"zero means the default and may be written", "room: { max_rounds: 3 }\n", "room.max_rounds", "0", "room: { max_rounds: 0 }\n"},
		{"an unreadable knob", "room: { max_rounds: many }\n", "room.max_rounds", "2", "room: { max_rounds: 2 }\n"},
		{"a truth value", "shared_sessions:\n  enabled: true\n", "shared_sessions.enabled", "false", "shared_sessions:\n  enabled: false\n"},
		{"a secret", "model:\n  provider: demo\n", "model.api_key", "a b: #c", "model:\n  provider: demo\n  api_key: \"a b: #c\"\n"},
		{"an empty text", "model: { url: http://h/v1, provider: demo }\n", "model.model", "", "model: {model: \"\",  url: http://h/v1, provider: demo }\n"},
		{"the same value", "room:\n  max_rounds: 3\n", "room.max_rounds", "3", "room:\n  max_rounds: 3\n"},
		{"an entry's value, by its name", "delegates:\n  - name: a\n    type: openai\n    url: http://h/v1\n    model: old # m\n  - name: b\n", "delegates.a.model", "new", "delegates:\n  - name: a\n    type: openai\n    url: http://h/v1\n    model: new # m\n  - name: b\n"},
		{"a new key of an entry", "delegates:\n  - name: a\n    type: acp\n    command: x\n  - name: b\nroom: {}\n", "delegates.a.timeout_s", "5", "delegates:\n  - name: a\n    type: acp\n    command: x\n    timeout_s: 5\n  - name: b\nroom: {}\n"},
		{"the longest name with a dot", "delegates:\n- {name: data, type: acp, command: x}\n- {name: data.scout, type: acp, command: y}\n", "delegates.data.scout.command", "z", "delegates:\n- {name: data, type: acp, command: x}\n- {name: data.scout, type: acp, command: z}\n"},
		{"a section of an entry", "delegates:\n  - name: a\n    type: a2a\n    url: http://h\n", "delegates.a.auth.token", "abc", "delegates:\n  - name: a\n    type: a2a\n    url: http://h\n    auth:\n      token: abc\n"},
		{"an entry of a list in a section", "server:\n  keys:\n    - { name: ada, key_env: K }\n", "server.keys.ada.admin", "true", "server:\n  keys:\n    - {admin: true,  name: ada, key_env: K }\n"},
		{"the first of a key given twice", "room:\n  max_rounds: 3\n  max_rounds: 4\n", "room.max_rounds", "5", "room:\n  max_rounds: 5\n  max_rounds: 4\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Replace("f.yaml", []byte(tt.in), tt.key, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestReplaceRefuses shows each refusal, by identity and in words.
func TestReplaceRefuses(t *testing.T) {
	const plainFile = "room:\n  max_rounds: 3\n"
	tests := []struct {
		name, in, key, value string
		is                   error
		says                 string
	}{
		{"above the ceiling", plainFile, "room.max_rounds", "11", ErrAboveCeiling, "room.max_rounds: above the ceiling: 11 is more than 10"},
		{"far above it", plainFile, "room.catchup_max_chars", "99999999999999999999", ErrAboveCeiling, "is more than 200000"},
		{"above another ceiling", plainFile, "model.timeout_s", "1e9", ErrAboveCeiling, "is more than 86400"},
		{"text for a number", plainFile, "room.max_rounds", "three", ErrWrongType, `must be a whole number, not "three"`},
		{"a fraction", plainFile, "room.max_rounds", "3.7", ErrWrongType, "must be a whole number"},
		{"not a number", plainFile, "model.temperature", "NaN", ErrWrongType, "must be a number"},
		{"infinity", plainFile, "model.temperature", "inf", ErrWrongType, "must be a number"},
		{"a hexadecimal number", plainFile, "room.max_rounds", "0x5", ErrWrongType, "must be a whole number"},
		{"below the least", plainFile, "model.timeout_s", "0", ErrWrongType, "0 is below 0.001"},
		{"another truth value", plainFile, "shared_sessions.enabled", "yes", ErrWrongType, "must be true or false"},
		{"no choice", plainFile, "continuity", "durabel", ErrWrongType, `did you mean "durable"?`},
		{"a bad form", plainFile, "server.addr", "8080", ErrWrongType, "must be HOST:PORT"},
		{"a line break", plainFile, "model.model", "a\nb", ErrWrongType, "must be one line"},
		{"bytes that are not UTF-8", plainFile, "model.model", "a\xff", ErrWrongType, "UTF-8"},
		{"an unknown key", plainFile, "room.max_round", "3", ErrUnknownKey, "did you mean room.max_rounds?"},
		{"a list of entries", plainFile, "delegates", "x", ErrUnknownKey, "is a list of entries"},
		{"no entry of the name", "delegates:\n  - {name: a, type: acp, command: x}\n", "delegates.b.command", "x", ErrUnknownDelegate, "delegates has no entry for b.command"},
		{"no entries at all", plainFile, "delegates.b.command", "x", ErrUnknownDelegate, "delegates has no entry"},
		{"a key of another type", "delegates:\n  - {name: a, type: acp, command: x}\n", "delegates.a.model_", "x", ErrUnknownKey, "unknown key: delegates.a.model_"},
		{"a near key of an entry", "delegates:\n  - {name: a, type: acp, command: x}\n", "delegates.a.comand", "x", ErrUnknownKey, "did you mean delegates.a.command?"},
		{"an entry's name", "delegates:\n  - {name: a, type: acp, command: x}\n", "delegates.a.name", "b", ErrNotEditable, "rename it in the file itself"},
		{"a list of an entry", "delegates:\n  - {name: a, type: acp, command: x}\n", "delegates.a.args", "b", ErrNotEditable, "delegates.a.args is a list of texts"},
		{"an entry under an anchor", "x-a: &a {name: a, type: acp, command: x}\ndelegates: [*a]\n", "delegates.a.command", "b", ErrNotEditable, "line 2: the entry a stands elsewhere"},
		{"a section", plainFile, "room", "x", ErrUnknownKey, "unknown key: room"},
		{"a rule that spans keys", plainFile, "model.provider", "openai", ErrWrongType, "model.model is missing"},
		{"a shared value", "room: { max_rounds: &n 3, catchup_max_chars: *n }\n", "room.max_rounds", "5", ErrNotEditable, "line 1: the value of room.max_rounds cannot be changed alone"},
		{"a shared section", "x-r: &r { max_rounds: 3 }\nroom: *r\n", "room.max_rounds", "5", ErrNotEditable, "line 2: room does not hold keys"},
		{"a list in its place", "room:\n  max_rounds: [3]\n", "room.max_rounds", "5", ErrNotEditable, "line 2: there is a list in place of the value of room.max_rounds"},
		{"a block of text in its place", "identity:\n  name: |\n    lead\n", "identity.name", "boss", ErrNotEditable, "line 2: the value of identity.name is a block of text"},
		{"text in place of the section", "room: 5\n", "room.max_rounds", "5", ErrNotEditable, "line 1: room does not hold keys"},
		{"a broken file", "room: [\n", "room.max_rounds", "5", ErrUnusable, "f.yaml:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Replace("f.yaml", []byte(tt.in), tt.key, tt.value)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, %v; want an error that says %q", got, err, tt.says)
			}
		})
	}
	_, err := Replace("f.yaml", []byte(plainFile), "model.api_key", "hunter2\n")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the refusal of a secret says %v", err)
	}
}
