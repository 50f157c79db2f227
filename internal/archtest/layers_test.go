package archtest

import (
	"fmt"
	"path"
	"strings"
)

// module is the import path of the root package.
const module = "github.com/langrooms/langrooms"

// row says what the files of one package, tests left out, may import beside the standard
// library and the root package.
type row struct {
	layer int
	// pkg is the path under the module, "." for the root. It may be a path.Match pattern.
	pkg string
	// below admits every package of a lower layer, up to and including this one. Zero
	// admits only the root.
	below int
	// may lists packages beyond that, of whatever layer.
	may []string
	// modules lists path prefixes outside the module; "*" admits all.
	modules []string
}

const (
	langchaingo = "github.com/tmc/langchaingo/llms"
	a2aSDK      = "github.com/a2aproject/a2a-go/v2"
	acpSDK      = "github.com/coder/acp-go-sdk"
)

// layers is the layer rule. A package that is here twice, is missing here, or has a row
// and no files fails the test.
var layers = []row{
	{layer: 0, pkg: "."},

	{layer: 1, pkg: "internal/redact"},
	{layer: 1, pkg: "internal/openapi"},
	{layer: 1, pkg: "internal/names", modules: []string{"golang.org/x/text"}},
	{layer: 1, pkg: "room", may: []string{"internal/names"}},
	{layer: 1, pkg: "checkpointer"},
	{layer: 1, pkg: "delegate", may: []string{"internal/names"}},
	{layer: 1, pkg: "internal/lifetime"},
	{layer: 1, pkg: "internal/worktree"},
	{layer: 1, pkg: "setting"},
	{layer: 1, pkg: "hotreload", may: []string{"internal/lifetime", "internal/names", "room", "setting"}, modules: []string{"gopkg.in/yaml.v3", "github.com/fsnotify/fsnotify"}},

	{layer: 2, pkg: "checkpointer/internal/*", may: []string{"checkpointer"}},
	{layer: 2, pkg: "checkpointer/memorysaver", may: savers},
	{layer: 2, pkg: "checkpointer/sqlitesaver", may: savers, modules: []string{"modernc.org/sqlite"}},
	{layer: 2, pkg: "checkpointer/redissaver", may: savers, modules: []string{"github.com/redis/go-redis/v9"}},
	{layer: 2, pkg: "delegate/internal/httpx", may: []string{"delegate", "internal/lifetime", "setting"}},
	{layer: 2, pkg: "internal/completion", may: []string{"delegate", "internal/redact"}, modules: []string{"github.com/tmaxmax/go-sse"}},
	{layer: 2, pkg: "delegate/a2aagent", may: []string{"delegate", "delegate/internal/httpx", "internal/lifetime", "internal/redact", "setting"}, modules: []string{a2aSDK}},
	{layer: 2, pkg: "delegate/acpagent", may: []string{"delegate", "internal/lifetime", "internal/redact", "setting"}, modules: []string{acpSDK}},
	{layer: 2, pkg: "delegate/openaiagent", may: []string{"delegate", "delegate/internal/httpx", "internal/completion", "internal/lifetime", "internal/redact", "setting"}, modules: []string{langchaingo}},
	{layer: 2, pkg: "langchain", may: []string{"room"}, modules: []string{langchaingo}},
	{layer: 2, pkg: "middleware/cast", may: []string{"room"}, modules: []string{langchaingo}},

	{layer: 2, pkg: "thread", may: []string{"checkpointer"}},

	{layer: 3, pkg: "exchange", below: 1, may: []string{"thread"}},
	{layer: 3, pkg: "nodes/roomnode", below: 2, may: []string{"exchange"}, modules: []string{langchaingo}},
	{layer: 3, pkg: "nodes/leadnode", below: 2, may: []string{"exchange"}, modules: []string{langchaingo}},
	{layer: 3, pkg: "delegate/delegatetool", below: 2, may: []string{"exchange"}, modules: []string{langchaingo}},

	{layer: 3, pkg: "durable", below: 1},

	{layer: 4, pkg: "late", below: 3},
	{layer: 4, pkg: "sharedsession", below: 3},
	{layer: 4, pkg: "lifecycle", below: 3},
	{layer: 4, pkg: "setup", below: 3, may: []string{"demo", "internal/worktree", "late", "lifecycle"}, modules: []string{langchaingo, "github.com/tmaxmax/go-sse"}},
	{layer: 4, pkg: "demo", below: 3, modules: []string{a2aSDK, acpSDK}},
	{layer: 4, pkg: "terminal", below: 3, modules: []string{"charm.land", "github.com/charmbracelet/x/ansi", "golang.org/x/term"}},

	{layer: 4, pkg: "runs", may: []string{"checkpointer", "delegate", "internal/lifetime"}},
	{layer: 4, pkg: "consent", may: []string{"delegate"}},
	{layer: 4, pkg: "gate", modules: []string{"golang.org/x/time"}},

	{layer: 2, pkg: "internal/telemetry", may: []string{"delegate"}, modules: []string{"github.com/prometheus/client_golang", "go.opentelemetry.io/otel"}},

	{layer: 5, pkg: "langgraphapi", may: []string{"checkpointer", "internal/openapi", "room", "thread", "runs"}},
	{layer: 5, pkg: "a2aserver", may: []string{"checkpointer", "delegate", "room", "runs", "thread"}, modules: []string{a2aSDK}},
	{layer: 5, pkg: "acpserver", may: []string{"checkpointer", "delegate", "room", "runs", "thread"}, modules: []string{acpSDK}},
	{layer: 5, pkg: "roomsapi", may: []string{"internal/openapi", "sharedsession"}},
	{layer: 5, pkg: "httpapi", may: []string{"checkpointer", "consent", "delegate", "exchange", "hotreload", "internal/names", "internal/openapi", "lifecycle", "room", "setting", "sharedsession", "thread"}},
	{layer: 5, pkg: "client", may: []string{"delegate", "exchange", "httpapi", "lifecycle"}},
	{layer: 5, pkg: "console"},
	{layer: 5, pkg: "mcpserver", may: []string{"sharedsession"}, modules: []string{"github.com/modelcontextprotocol/go-sdk"}},

	{layer: 6, pkg: "cmd/langrooms", below: 5, modules: []string{"*"}},
}

// savers is what the stores may share.
var savers = []string{"checkpointer", "checkpointer/internal/*"}

// testOnly reports whether a package is a suite, a fake or a check. Such a package may
// import what it serves, and only tests and other such packages may import it.
func testOnly(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || strings.HasPrefix(pkg, "internal/peers")
}

// rowOf returns the row of pkg, or nil.
func rowOf(rows []row, pkg string) *row {
	for i := range rows {
		if matches(rows[i].pkg, pkg) {
			return &rows[i]
		}
	}
	return nil
}

// checkEdge reports why a file of pkg that is no test may not import the package imported,
// both by their full import paths, or nil.
func checkEdge(rows []row, pkg, imported string) error {
	from, _ := local(pkg)
	r := rowOf(rows, from)
	if r == nil {
		return fmt.Errorf("package %s has no row in the layer table", from)
	}
	to, inside := local(imported)
	if !inside {
		if strings.Contains(strings.Split(imported, "/")[0], ".") && !r.admitsModule(imported) {
			return fmt.Errorf("%s (layer %d) imports %s: not in its row", from, r.layer, imported)
		}
		return nil
	}
	target := rowOf(rows, to)
	switch {
	case testOnly(to):
		return fmt.Errorf("%s imports %s, which is for tests only", from, to)
	case target == nil:
		return fmt.Errorf("%s imports %s, which has no row in the layer table", from, to)
	case to == "." || target.layer <= r.below || r.lists(to):
		return nil
	}
	return fmt.Errorf("%s (layer %d) imports %s (layer %d): not in its row", from, r.layer, to, target.layer)
}

func (r *row) lists(pkg string) bool {
	for _, pattern := range r.may {
		if matches(pattern, pkg) {
			return true
		}
	}
	return false
}

func (r *row) admitsModule(imported string) bool {
	for _, prefix := range r.modules {
		if prefix == "*" || imported == prefix || strings.HasPrefix(imported, prefix+"/") {
			return true
		}
	}
	return false
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return ok && err == nil
}

// local returns the path of an import under the module, "." for the root, and whether it
// is inside the module at all.
func local(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}
