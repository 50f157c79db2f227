package acpagent

import (
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"
)

// Permissions is a policy for an agent's permission requests, by kind of tool call
// (spec: rooms, section 6).
type Permissions string

// The policies.
const (
	// PermissionsAuto allows every kind.
	PermissionsAuto Permissions = "auto"
	// PermissionsAllowlist refuses execute and delete.
	PermissionsAllowlist Permissions = "allowlist"
	// PermissionsReadonly allows read, search, fetch and think and refuses the rest.
	PermissionsReadonly Permissions = "readonly"
)

func (p Permissions) known() bool {
	return p == "" || p == PermissionsAuto || p == PermissionsAllowlist || p == PermissionsReadonly
}

func policies() string {
	return strings.Join([]string{string(PermissionsAuto), string(PermissionsAllowlist), string(PermissionsReadonly)}, ", ")
}

// allows reports whether a tool call of this kind may run: the policy and both lists
// must agree. A kind that ACP does not have counts as other.
func (c Config) allows(kind string) bool {
	if !slices.Contains(toolKinds, kind) {
		kind = string(acp.ToolKindOther)
	}
	if slices.Contains(c.DenyKinds, kind) || len(c.AllowKinds) > 0 && !slices.Contains(c.AllowKinds, kind) {
		return false
	}
	switch acp.ToolKind(kind) {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindFetch, acp.ToolKindThink:
		return true
	case acp.ToolKindExecute, acp.ToolKindDelete:
		return c.Permissions == PermissionsAuto
	default:
		return c.Permissions != PermissionsReadonly
	}
}

// answer picks the option that says yes or no to one tool call. "Once" goes before
// "always": the next request is judged anew. Without an option that fits, the request is
// answered as cancelled, which runs nothing.
func answer(options []acp.PermissionOption, allowed bool) acp.RequestPermissionOutcome {
	want := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allowed {
		want = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	}
	for _, kind := range want {
		for _, o := range options {
			if o.Kind == kind {
				return acp.NewRequestPermissionOutcomeSelected(o.OptionId)
			}
		}
	}
	return acp.NewRequestPermissionOutcomeCancelled()
}
