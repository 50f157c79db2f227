package hotreload

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// source finds the bytes of a node. No library writes a YAML file back byte for byte, so an
// edit patches the bytes at the node's place; every edit is checked afterwards, so that a
// place that was misjudged is a refusal and never a damaged file.
type source struct {
	data  []byte // without a byte order mark
	lines []int  // offsets of the lines, as YAML counts them
}

func newSource(data []byte) *source {
	s := &source{data: data, lines: []int{0}}
	for i := 0; i < len(data); {
		n := breakLen(data[i:])
		if n == 0 {
			i++
			continue
		}
		i += n
		s.lines = append(s.lines, i)
	}
	return s
}

// breakLen is the length of the line break at the start of b, 0 if there is none.
func breakLen(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\r\n")), bytes.HasPrefix(b, []byte("\u0085")):
		return 2
	case len(b) > 0 && (b[0] == '\n' || b[0] == '\r'):
		return 1
	case bytes.HasPrefix(b, []byte("\u2028")), bytes.HasPrefix(b, []byte("\u2029")):
		return 3
	}
	return 0
}

// at returns the byte at i, 0 beyond the end.
func (s *source) at(i int) byte {
	if i < len(s.data) {
		return s.data[i]
	}
	return 0
}

// start returns the offset of n, of its tag or anchor if it has one.
func (s *source) start(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(s.lines) {
		return len(s.data)
	}
	i := s.lines[n.Line-1]
	for range n.Column - 1 {
		if i >= len(s.data) {
			break
		}
		_, size := utf8.DecodeRune(s.data[i:])
		i += size
	}
	return i
}

// body returns the offset of n behind its tag and anchor.
func (s *source) body(n *yaml.Node) int {
	i := s.start(n)
	for n.Kind != yaml.AliasNode && (s.at(i) == '&' || s.at(i) == '!') {
		end := i
		for end < len(s.data) && !blank(s.data[end:]) && !strings.ContainsRune(",]}", rune(s.data[end])) {
			end++
		}
		next := s.skip(end, "")
		if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quotedOrBlock == 0 {
			return end
		}
		i = next
	}
	return i
}

const quotedOrBlock = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func blank(b []byte) bool { return b[0] == ' ' || b[0] == '\t' || breakLen(b) > 0 }

// skip returns the offset of the first byte from i on that is neither white space, nor in
// a comment, nor one of the characters in also.
func (s *source) skip(i int, also string) int {
	for i < len(s.data) {
		switch {
		case blank(s.data[i:]):
			i += max(1, breakLen(s.data[i:]))
		case s.data[i] == '#':
			i = s.lineEnd(i)
		case strings.IndexByte(also, s.data[i]) >= 0:
			i++
		default:
			return i
		}
	}
	return i
}

// lineEnd returns the offset of the line break that ends the line of i, or of the end.
func (s *source) lineEnd(i int) int {
	for i < len(s.data) && breakLen(s.data[i:]) == 0 {
		i++
	}
	return i
}

// nextLine returns the offset of the line after that of i.
func (s *source) nextLine(i int) int {
	i = s.lineEnd(i)
	return i + breakLen(s.data[min(i, len(s.data)):])
}

// end returns the offset behind the last byte of n.
func (s *source) end(n *yaml.Node) (int, error) {
	i := s.body(n)
	switch n.Kind {
	case yaml.AliasNode:
		return i + 1 + len(n.Value), nil
	case yaml.ScalarNode:
		return s.scalarEnd(n, i)
	}
	open := s.at(i)
	flow := n.Kind == yaml.MappingNode && open == '{' || n.Kind == yaml.SequenceNode && open == '['
	last := i + 1
	if len(n.Content) > 0 {
		end, err := s.end(n.Content[len(n.Content)-1])
		if err != nil {
			return 0, err
		}
		last = max(end, last)
	}
	if !flow {
		return last, nil
	}
	last = s.skip(last, ",:?")
	if c := s.at(last); c != open+2 { // the closing bracket, in ASCII
		return 0, fmt.Errorf("%w: line %d: the end of the list or mapping was not found", ErrNotEditable, n.Line)
	}
	return last + 1, nil
}

func (s *source) scalarEnd(n *yaml.Node, i int) (int, error) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for j := i + 1; j < len(s.data); j++ {
			switch s.data[j] {
			case '\\':
				j++
			case '"':
				return j + 1, nil
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0:
		for j := i + 1; j < len(s.data); j++ {
			if s.data[j] == '\'' {
				if s.at(j+1) != '\'' {
					return j + 1, nil
				}
				j++
			}
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return s.blockEnd(i), nil
	default:
		if end, ok := s.plainEnd(n.Value, i); ok {
			return end, nil
		}
	}
	return 0, fmt.Errorf("%w: line %d: the end of the value was not found", ErrNotEditable, n.Line)
}

// plainEnd matches a plain scalar's value, whose line breaks may be folded, at i.
func (s *source) plainEnd(value string, i int) (int, bool) {
	words := strings.FieldsFunc(value, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == 0x85 || r == 0x2028 || r == 0x2029
	})
	for k, w := range words {
		if k > 0 {
			for i < len(s.data) && blank(s.data[i:]) {
				i++
				for i < len(s.data) && !utf8.RuneStart(s.data[i]) {
					i++
				}
			}
		}
		if !bytes.HasPrefix(s.data[min(i, len(s.data)):], []byte(w)) {
			return 0, false
		}
		i += len(w)
	}
	return i, true
}

// blockEnd returns the end of the last line with text of the block scalar whose indicator
// is at i.
func (s *source) blockEnd(i int) int {
	outer := s.outerIndent(i)
	end := s.lineEnd(i)
	for line := s.nextLine(i); line < len(s.data); line = s.nextLine(line) {
		text := bytes.TrimLeft(s.data[line:s.lineEnd(line)], " \t")
		if len(text) > 0 && s.indent(line) <= outer {
			break
		}
		if len(text) > 0 {
			end = s.lineEnd(line)
		}
	}
	return end
}

func (s *source) indent(line int) int {
	n := 0
	for s.at(line+n) == ' ' {
		n++
	}
	return n
}

// outerIndent returns the indentation of the key or the dash that holds the block scalar
// whose indicator is at i.
func (s *source) outerIndent(i int) int {
	k, _ := slices.BinarySearch(s.lines, i+1)
	line := s.lines[k-1]
	outer := s.indent(line)
	for column := outer; s.at(line+column) == '-' && s.at(line+column+1) == ' '; {
		column += 1 + s.indent(line+column+1)
		if line+column < i {
			outer = column
		}
	}
	return outer
}
