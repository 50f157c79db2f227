package delegate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
)

func TestHandlesOfEarlierVersionsAreRead(t *testing.T) {
	want := Handle{ID: "h", Thread: "t", Delegate: "slow", Task: "k", Anchor: 3,
		Stamp: langrooms.Stamp{From: "slow", Exchange: "x", Round: 2, Seen: 7, Incognito: true}}
	now, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []string{string(now),
		`{"id":"h","thread":"t","delegate":"slow","task":"k","anchor":3,"exchange":"x","round":2,"seen":7,"incognito":true}`} {
		var got Handle
		if err := json.Unmarshal([]byte(stored), &got); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", stored, d)
		}
	}
}
