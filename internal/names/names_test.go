package names_test

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/names"
)

// Spec 6, 1.2.
func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"operator", "OPERATOR", "assiſtant", "ｏｐｅｒａｔｏｒ", "оperator", "оperаtоr", "ορerator", "𝐨𝐩𝐞𝐫𝐚𝐭𝐨𝐫", "operat0r", "r00m", "ro\u0323om",
		"\u217cead", "Iead", "1ead", "ѕуѕtem", "SУSTEM", "systern", "assıstant", "ɑssistant", "rᴏᴏᴍ", "summary", "ѕummary",
	} {
		if err := names.CheckName(name); err == nil {
			t.Errorf("%q is allowed", name)
		}
	}
	for _, name := range []string{
		"proto", "md", "claude-code", "operators", "leader", "roomy", "проверка", "сова", "σοφία", "josé", "猫", "😀️", "r2d2", "o1", "ассистент", "a", "0",
	} {
		if err := names.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestTwins(t *testing.T) {
	twins := [][2]string{
		{"caf\u00e9", "cafe\u0301"}, {"proto", "ｐｒｏｔｏ"}, {"\ufb01x", "fix"}, {"Caf\u00e9", "cafe\u0301"}, {"❤", "❤\ufe0f"}, {"Å", "\u212b"},
	}
	for _, pair := range twins {
		if !names.Twins(pair[0], pair[1]) || !names.Twins(pair[1], pair[0]) {
			t.Errorf("%+q are not twins", pair)
		}
	}
	others := [][2]string{{"proto", "proto"}, {"proto", "Proto"}, {"straße", "STRASSE"}, {"cafe", "caf\u00e9"}, {"a", "b"}}
	for _, pair := range others {
		if names.Twins(pair[0], pair[1]) {
			t.Errorf("%+q are twins", pair)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("Caf\u00e9\u200b")
	f.Add("\u0345\u0399\ufdfa")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		if k := names.Key(s); names.Key(k) != k {
			t.Errorf("the key of %+q is %+q, and that one's %+q", s, k, names.Key(k))
		}
	})
}
