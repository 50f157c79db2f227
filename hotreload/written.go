package hotreload

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// maxWritten bounds a value that is told, in characters: what is longer is none of these kinds.
const maxWritten = 40

// Written returns the settings of a file as they are written there, by their dotted keys: what is in force may be
// another value, such as where one is above its ceiling. Only keys that take a number, a truth or one of several
// words are among them, and neither texts nor the entries of lists, so there are no secrets. A file that is no
// configuration has none.
func Written(file string, data []byte) map[string]string {
	all := map[string]string{}
	doc, err := load(file, data)
	if err != nil {
		return all
	}
	for _, f := range Schema() {
		if strings.Contains(f.Key, "[]") || !slices.Contains([]setting.Kind{setting.Whole, setting.Number, setting.Seconds, setting.Bool, setting.Choice}, f.Kind) {
			continue
		}
		if n := nodeOf(doc, strings.Split(f.Key, ".")); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			all[f.Key] = string([]rune(n.Value)[:min(maxWritten, utf8.RuneCountInString(n.Value))])
		}
	}
	return all
}

// nodeOf is what stands under a path of keys; nil where nothing does.
func nodeOf(n *yaml.Node, path []string) *yaml.Node {
	for _, key := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		i := slices.IndexFunc(pairs(n), func(p pair) bool { return p.key.Value == key })
		if i < 0 {
			return nil
		}
		n = resolve(pairs(n)[i].value)
	}
	return n
}
