package hotreload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// Bounds on what is read at all.
const (
	// MaxBytes is the largest configuration file.
	MaxBytes = 1 << 20
	// maxDepth bounds nesting, aliases included; maxNodes what aliases may expand to.
	maxDepth = 64
	maxNodes = 100_000
)

var bom = []byte("\ufeff")

// load reads the only document of data into its top mapping, which is nil for an empty
// document. Every refusal is a *SyntaxError.
func load(file string, data []byte) (*yaml.Node, error) {
	fail := func(line, column int, format string, args ...any) error {
		return &SyntaxError{File: file, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
	}
	if len(data) > MaxBytes {
		return nil, fail(1, 0, "the file has %d bytes, more than the %d that a configuration may have", len(data), MaxBytes)
	}
	data = bytes.TrimPrefix(data, bom)
	if err := checkBytes(file, data); err != nil {
		return nil, err
	}
	doc, err := decodeDocument(data)
	if err != nil {
		line, message := faultLine(data, err)
		return nil, fail(line, 0, "%s", message)
	}
	if doc == nil || len(doc.Content) == 0 {
		return nil, nil
	}
	w := walker{file: file}
	if err := w.walk(doc.Content[0], 0); err != nil {
		return nil, err
	}
	switch top := doc.Content[0]; {
	case top.Kind == yaml.MappingNode:
		return top, nil
	case top.Kind == yaml.ScalarNode && top.Tag == "!!null":
		return nil, nil
	default:
		return nil, fail(top.Line, top.Column, "the file must hold keys and values, not %s", kindOf(setting.Field{}, top))
	}
}

// checkBytes finds what YAML does not allow in a file, with its place.
func checkBytes(file string, data []byte) error {
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		message := ""
		switch {
		case i == 0 && (bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})):
			message = "the file is UTF-16; save it as UTF-8"
		case r == utf8.RuneError && size == 1:
			message = fmt.Sprintf("byte 0x%02x is not UTF-8; save the file as UTF-8", data[i])
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f, r > 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			message = fmt.Sprintf("control character U+%04X is not allowed", r)
		}
		if message != "" {
			return &SyntaxError{File: file, Line: line, Column: column, Message: message}
		}
		i += size
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return nil
}

var errDocuments = errors.New("a second document starts here; a configuration is one document")

// decodeDocument parses data. The decoder has panicked on hostile input in the past, so a
// panic is an error here too.
func decodeDocument(data []byte) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("yaml: the parser failed: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc = new(yaml.Node)
	if err := dec.Decode(doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("yaml: line %d: %w", max(second.Line, 1), errDocuments)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return doc, nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// faultLine returns the line and the words of a parser's error. The parser names the line
// where the construct began that it could not finish, and off by one; the fault itself is
// in the first line with which the text fails in the same way.
func faultLine(data []byte, err error) (int, string) {
	line, message := splitError(err)
	if errors.Is(err, errDocuments) {
		return line, message
	}
	ends := lineEnds(data)
	low, high := 0, len(ends)-1 // invariant: the text up to line index high fails so
	for low < high {
		mid := (low + high) / 2
		_, midErr := decodeDocument(data[:ends[mid]])
		if _, m := splitError(midErr); midErr != nil && m == message {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if last := len(ends) - 1; high == last && last > 0 && line > 0 {
		if _, err := decodeDocument(data[:ends[last-1]]); err != nil {
			return line, message // open to the end: where it began says more
		}
	}
	return high + 1, message
}

func splitError(err error) (int, string) {
	if err == nil {
		return 0, ""
	}
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ := strconv.Atoi(m[1])
	message := m[2]
	if strings.HasPrefix(message, "unknown anchor") { // it quotes what may be a secret
		message = "an alias names no anchor (text that begins with * needs quotes)"
	}
	if strings.Contains(message, "cannot start any token") {
		message += " (a tab cannot indent, and @ ` % need quotes)"
	}
	return line, message
}

// lineEnds returns the offset behind each line of data.
func lineEnds(data []byte) []int {
	var ends []int
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(data) {
		ends = append(ends, len(data))
	}
	return ends
}

// walker bounds what a document may expand to.
type walker struct {
	file  string
	nodes int
}

func (w *walker) walk(n *yaml.Node, depth int) error {
	if w.nodes++; w.nodes > maxNodes {
		return w.fail(n, fmt.Sprintf("the file, aliases expanded, has more than %d values", maxNodes))
	}
	if depth > maxDepth {
		return w.fail(n, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	if n.Kind == yaml.AliasNode {
		return w.walk(n.Alias, depth+1)
	}
	for _, c := range n.Content {
		if err := w.walk(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) fail(n *yaml.Node, message string) error {
	return &SyntaxError{File: w.file, Line: n.Line, Column: n.Column, Message: message}
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// pair is a key and its value, the alias resolved.
type pair struct {
	key, value *yaml.Node
	// first is the earlier occurrence of the same key in the same mapping.
	first *yaml.Node
}

// pairs returns the pairs of a mapping in order. Merge keys follow the explicit ones and
// never override; a key that is written twice comes twice, the second with first set.
func pairs(m *yaml.Node) []pair {
	var out []pair
	seen := map[string]*yaml.Node{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := resolve(m.Content[i]), resolve(m.Content[i+1])
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if at := m.Content[i]; key != at { // an alias as a key: its text, at its place
			k := *key
			k.Line, k.Column = at.Line, at.Column
			key = &k
		}
		out = append(out, pair{key: key, value: value, first: seen[key.Value]})
		if seen[key.Value] == nil {
			seen[key.Value] = key
		}
	}
	for _, source := range merges {
		sources := []*yaml.Node{source}
		if source.Kind == yaml.SequenceNode {
			sources = source.Content
		}
		for _, s := range sources {
			if s = resolve(s); s.Kind != yaml.MappingNode {
				continue
			}
			for _, p := range pairs(s) {
				if seen[p.key.Value] == nil && p.first == nil {
					seen[p.key.Value] = p.key
					out = append(out, p)
				}
			}
		}
	}
	return out
}
