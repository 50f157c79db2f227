package room_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/room"
)

func TestParseGroup(t *testing.T) {
	group := func(g, message string, to ...string) room.Address {
		return room.Address{Kind: room.Addressed, Group: g, To: to, Message: message}
	}
	for _, tt := range []struct {
		text   string
		roster []string
		want   room.Address
	}{
		{"@all hi", roster, group("all", "hi")},
		{"@ALL, hi", roster, group("all", "hi")},
		{"@ａｌｌ! hi", roster, group("all", "hi")},
		{"@others: hi", roster, group("others", "hi")},
		{"@proto @others hi", roster, group("others", "hi", "proto")},
		{"@others @proto hi", roster, group("others", "hi", "proto")},
		{"@others @all hi", roster, group("all", "hi")},
		{"@all @others hi", roster, group("all", "hi")},
		{"@all @all hi", roster, group("all", "hi")},
		{"@all", roster, room.Address{Kind: room.NoMessage, Group: "all"}},
		{"@all hi", nil, room.Address{}},
		{"ask @all hi", roster, room.Address{}},
		{"@alll hi", roster, unknown("@alll", "")},
		{"@all hi", []string{"proto", "all"}, addressed("hi", "all")},
		{"@All hi", []string{"proto", "all"}, addressed("hi", "all")},
		{"@aLL hi", []string{"All", "ALL"}, unknown("@aLL", "All")},
	} {
		if diff := cmp.Diff(tt.want, room.Parse(tt.text, tt.roster)); diff != "" {
			t.Errorf("%q of %v (-want +got):\n%s", tt.text, tt.roster, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	many := make([]string, 15)
	for i := range many {
		many[i] = fmt.Sprintf("m%02d", i)
	}
	all, others := room.GroupAll, room.GroupOthers
	for _, tt := range []struct {
		name         string
		group        string
		to           []string
		roster, cast []string
		last         string
		want         []string
		left         int
	}{
		{"all, nobody has spoken", all, nil, roster, nil, "", roster, 0},
		{"all, two have", all, nil, roster, []string{"claude-code", "gone", "proto"}, "proto", []string{"proto", "claude-code"}, 0},
		{"all, none of the roster has", all, nil, roster, []string{"gone"}, "gone", roster, 0},
		{"all beside a name", all, []string{"claude-code"}, roster, []string{"proto", "claude-code"}, "", []string{"claude-code", "proto"}, 0},
		{"all beside the one that has spoken", all, []string{"proto"}, roster, []string{"proto"}, "proto", []string{"proto"}, 0},
		{"others than the last", others, nil, roster, []string{"proto", "reviewer"}, "reviewer", []string{"proto"}, 0},
		{"others, nobody has spoken", others, nil, roster, nil, "", roster, 0},
		{"others, only one has", others, nil, roster, []string{"proto"}, "proto", []string{"reviewer", "claude-code"}, 0},
		{"others than those named", others, []string{"proto"}, roster, []string{"proto", "reviewer"}, "reviewer", []string{"proto", "reviewer"}, 0},
		{"others than the one that has spoken", others, []string{"proto"}, roster, []string{"proto"}, "proto", []string{"proto", "reviewer", "claude-code"}, 0},
		{"others of one", others, nil, []string{"proto"}, []string{"proto"}, "proto", nil, 0},
		{"too many", all, nil, many, nil, "", many[:12], 3},
		{"too many beside a name", all, []string{"m14"}, many, nil, "", []string{"m14"}, 0},
		{"too many that have spoken, beside a name", all, []string{"m14"}, many, many, "", append([]string{"m14"}, many[:11]...), 3},
		{"no group", "", []string{"proto"}, roster, roster, "", []string{"proto"}, 0},
	} {
		a, left := room.Address{Kind: room.Addressed, Group: tt.group, To: tt.to, Message: "hi"}.Expand(tt.roster, tt.cast, tt.last)
		if !slices.Equal(a.To, tt.want) || left != tt.left {
			t.Errorf("%s: %v, %d left", tt.name, a.To, left)
		}
	}
}

func TestCompleteGroups(t *testing.T) {
	for _, tt := range []struct {
		prefix string
		roster []string
		want   []string
	}{
		{"@", roster, roster},
		{"@a", roster, []string{"all"}},
		{"@o", append([]string{"oracle"}, roster...), []string{"oracle", "others"}},
		{"@proto @oth", roster, []string{"others"}},
		{"@all @p", roster, nil},
		{"@a", []string{"proto"}, nil},
		{"@a", []string{"proto", "all"}, []string{"all"}},
		{"tell @a", roster, nil},
	} {
		if got := room.Complete(tt.prefix, tt.roster); !slices.Equal(got, tt.want) {
			t.Errorf("%q of %v: %v", tt.prefix, tt.roster, got)
		}
	}
}
