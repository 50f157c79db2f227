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
	// PermissionsAsk asks a person, through [delegate.Request.Permission].
	PermissionsAsk Permissions = "ask"
)

func (p Permissions) known() bool {
	return p == "" || p == PermissionsAuto || p == PermissionsAllowlist || p == PermissionsReadonly || p == PermissionsAsk
}

func policies() string {
	return strings.Join([]string{string(PermissionsAuto), string(PermissionsAllowlist), string(PermissionsReadonly), string(PermissionsAsk)}, ", ")
}

// verdict is what the configuration says of a tool call.
type verdict struct {
	allowed bool
	ask     bool   // a person decides
	by      string // the key that says so
}

// judge returns the verdict on tool calls of this kind: DenyKinds takes away from AllowKinds,
// or else from what the policy allows by itself. A kind that ACP does not have counts as
// other.
func (c Config) judge(kind string) verdict {
	if !slices.Contains(toolKinds, kind) {
		kind = string(acp.ToolKindOther)
	}
	policy := "permissions: " + string(c.Permissions)
	switch {
	case slices.Contains(c.DenyKinds, kind):
		return verdict{by: "deny_kinds"}
	case slices.Contains(c.AllowKinds, kind):
		return verdict{allowed: true, by: "allow_kinds"}
	case c.Permissions == PermissionsAsk:
		return verdict{ask: true, by: policy}
	case len(c.AllowKinds) > 0:
		return verdict{by: "allow_kinds"}
	default:
		return verdict{allowed: c.Permissions.allow(acp.ToolKind(kind)), by: policy}
	}
}

// allow is the policy's own list.
func (p Permissions) allow(kind acp.ToolKind) bool {
	switch kind {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindFetch, acp.ToolKindThink:
		return true
	case acp.ToolKindExecute, acp.ToolKindDelete:
		return p == PermissionsAuto
	default:
		return p != PermissionsReadonly
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
