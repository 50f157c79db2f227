package langrooms

import _ "embed"

// DemoConfig is the configuration file at the top of the repository: the offline demo, which
// needs no key. Programs use it where there is no file.
//
//go:embed langgraph-config.yaml
var DemoConfig string
