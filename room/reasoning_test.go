package room_test

import (
	"testing"

	"github.com/langrooms/langrooms/room"
)

func TestCutReasoning(t *testing.T) {
	for _, tt := range []struct{ name, text, words, reasoning string }{
		{"none", " hi\n", "hi", ""},
		{"empty", "", "", ""},
		{"what shows nothing", " \u200b\ufe0f\u2060\n\u00ad", "", ""},
		{"a block", "<think>\nhm\n</think>\n\nIt broke.", "It broke.", "hm"},
		{"an empty block", "<think>\n\n</think>\n\nIt broke.", "It broke.", ""},
		{"in front of a pass", "<think>nothing to add</think>pass", "pass", "nothing to add"},
		{"nothing behind it", "<think>hm</think>", "", "hm"},
		{"never closed", "<think>\nhm, and so on", "", "hm, and so on"},
		{"siblings", "<Thinking>a</thinking> <reasoning>b</reasoning>\n<thought>c</thought>[THINK]d[/THINK]◁think▷e◁/think▷It broke.", "It broke.", "a\nb\nc\nd\ne"},
		{"with a prefix and an attribute", "<seed:think budget=\"1\">hm</seed:think>It broke.", "It broke.", "hm"},
		{"behind a byte-order mark", "\ufeff\u200b<think>hm</think>It broke.", "It broke.", "hm"},
		{"opened by the template", "hm, so\n</think>\n\nIt broke.", "It broke.", "hm, so"},
		{"opened by the template, without an answer", "hm, so\n</think>", "", "hm, so"},
		{"a tag inside", "<think>a <b> </div></think>It broke.", "It broke.", "a <b> </div>"},
		{"later in the text it is words", "It broke.\n<think>hm</think> yes", "It broke.\n<think>hm</think> yes", ""},
		{"named in prose", "The tag `</think>` ends it.", "The tag `</think>` ends it.", ""},
		{"in a code block", "```\nhm\n</think>\n```\nThat is the form.", "```\nhm\n</think>\n```\nThat is the form.", ""},
		{"another tag", "<thinker>x</thinker>", "<thinker>x</thinker>", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if words, reasoning := room.CutReasoning(tt.text); words != tt.words || reasoning != tt.reasoning {
				t.Errorf("got %q and %q, want %q and %q", words, reasoning, tt.words, tt.reasoning)
			}
		})
	}
}
