package langrooms

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the longest name in code points.
const MaxName = 128

// reservedNames are the room's own voices.
var reservedNames = []string{"operator", "assistant", "lead", "room", "system", "summary"}

// ReservedNames returns the names of the room's own voices, which no delegate can have.
func ReservedNames() []string { return slices.Clone(reservedNames) }

// CheckName reports why name cannot be a roster name, or nil (spec: rooms, section 6): it is
// one run without white space or characters that cannot be shown, holds no @, and is none
// of the names of the room's own voices, in any case. The error reads on from the word
// name.
func CheckName(name string) error {
	if err := CheckIdentity(name); err != nil {
		return err
	}
	if slices.Contains(reservedNames, strings.ToLower(name)) {
		return fmt.Errorf("%q is reserved for the room's own voices: %s", name, strings.Join(reservedNames, ", "))
	}
	return nil
}

// CheckIdentity is CheckName without the reserved names.
func CheckIdentity(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case utf8.RuneCountInString(name) > MaxName:
		return fmt.Errorf("is longer than %d characters", MaxName)
	case strings.ContainsRune(name, '@'):
		return fmt.Errorf("%q holds an @", name)
	}
	for _, r := range name {
		// Bidirectional marks and other invisible characters would let one name pass for
		// another.
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
			return fmt.Errorf("%q holds white space or a character that cannot be shown", name)
		}
	}
	return nil
}
