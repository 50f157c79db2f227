package record_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// A number has one spelling, exact, whatever it was written as.
func TestNumbers(t *testing.T) {
	for want, spellings := range map[string]string{
		"0":                    "0 -0 0.0 0e9 -0.00e-3",
		"1":                    "1 1.0 1e0 10e-1 0.1e1 100000000000000000000e-20",
		"-120":                 "-120 -1.2e2 -120.000",
		"0.5":                  "0.5 5e-1 0.500 50E-2",
		"0.00001":              "0.00001 1e-5",
		"1e-7":                 "1e-7 0.0000001",
		"12.5":                 "12.5 125e-1",
		"9007199254740993":     "9007199254740993 9007199254740993.0",
		"12345678901234567890": "12345678901234567890",
		"1.5e300":              "1.5e300 15e299 1.5E+300",
	} {
		for text := range strings.FieldsSeq(spellings) {
			texts, err := record.Metadata(checkpointer.Metadata{"n": json.Number(text)})
			if err != nil || texts["n"] != want {
				t.Errorf("%s is written %s, %v; want %s", text, texts["n"], err, want)
			}
			if !json.Valid([]byte(texts["n"])) {
				t.Errorf("%s is no JSON", texts["n"])
			}
		}
	}
	for _, text := range []string{"", " 1", "1 ", "01", "1e", "0x1", "NaN", "1e1000001", "--1", "1\n"} {
		if texts, err := record.Metadata(checkpointer.Metadata{"n": json.Number(text)}); err == nil {
			t.Errorf("%q is taken for the number %s", text, texts["n"])
		}
	}
}

// What format 1 stored as texts reads as before, and every value has its own plain form.
func TestPlain(t *testing.T) {
	values := checkpointer.Metadata{"text": "1", "number": 1, "null": nil, "word": "null", "nul": "\x001", "empty": "", "object": map[string]any{"a": "<"}}
	texts, err := record.Metadata(values)
	if err != nil {
		t.Fatal(err)
	}
	plain := record.Plain(texts)
	if plain["text"] != "1" || plain["word"] != "null" || plain["empty"] != "" {
		t.Errorf("texts are not plain: %q", plain)
	}
	seen := map[string]string{}
	for key, p := range plain {
		if other, taken := seen[p]; taken {
			t.Errorf("%s and %s have the same plain form", key, other)
		}
		seen[p] = key
	}
}
