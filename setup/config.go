package setup

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/hotreload"
)

// ReadConfig reads the configuration at path once. When the file does not exist and required
// is false it returns the built-in demo configuration and builtIn is true.
func ReadConfig(path string, required bool) (c hotreload.Config, findings []hotreload.Finding, builtIn bool, err error) {
	data, err := hotreload.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		c, findings, err = hotreload.Parse("built-in configuration", []byte(langrooms.DemoConfig))
		return c, findings, true, err
	}
	if err != nil {
		return hotreload.Config{}, nil, false, err
	}
	c, findings, err = hotreload.Parse(path, data)
	return c, findings, false, err
}

// storeUsable is the first error in where threads are kept. The default in its place would
// keep them where nobody looks for them.
func storeUsable(findings []hotreload.Finding) error {
	for _, f := range findings {
		if f.Severity == hotreload.Error && strings.HasPrefix(f.Key, "checkpointer") {
			return errors.New(f.String())
		}
	}
	return nil
}
