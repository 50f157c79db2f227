package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// action is what a key asks of the chat.
type action int

const (
	actNone      action = iota
	actSubmit           // the text is a message, or a command
	actInterrupt        // Ctrl-C on an empty line
	actEnd              // Ctrl-D on an empty line
	actEdit             // Ctrl-X Ctrl-E: the text in the person's own editor
)

const (
	promptText = "› "
	restText   = "  " // before the further rows
	editorRows = 8    // are shown at once
	editorText = 10_000
)

// shownTab stands for a tab in the editor, whose rows are made of columns.
const shownTab = '␉'

// editor is the text that the operator types. It does no I/O but the history's.
type editor struct {
	area     textarea.Model
	past     *history
	at       int    // the entry of past that is shown; len(past.entries) is none
	draft    string // what stood there before
	chord    bool   // Ctrl-X was the last key
	hint     string // a row below: choices, what went wrong
	complete func(text string, pos int) (completed string, newPos int, choices []string)
}

func newEditor(past *history) *editor {
	e := &editor{area: textarea.New(), past: past, at: len(past.entries)}
	a := &e.area
	a.SetStyles(textarea.Styles{})
	a.ShowLineNumbers, a.Placeholder, a.EndOfBufferCharacter = false, "", ' '
	a.MaxWidth, a.CharLimit, a.DynamicHeight = 0, 0, true
	a.MinHeight, a.MaxHeight, a.MaxContentHeight = 1, editorRows, editorText
	a.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	a.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // it would run a program of its own
	a.SetVirtualCursor(false)
	a.SetPromptFunc(len([]rune(promptText)), func(i textarea.PromptInfo) string {
		if i.LineNumber == 0 {
			return promptText
		}
		return restText
	})
	a.SetHeight(1)
	a.SetWidth(80)
	a.Focus()
	return e
}

// text returns what was typed.
func (e *editor) text() string { return strings.ReplaceAll(e.area.Value(), string(shownTab), "\t") }

// set replaces the text; the cursor stands behind it.
func (e *editor) set(text string) {
	e.area.Reset()
	e.insert(text)
}

// insert puts text at the cursor. What does not fit is refused whole.
func (e *editor) insert(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", string(shownTab)).Replace(text)
	before := e.area.Value()
	e.area.InsertString(text)
	if utf8.RuneCountInString(e.area.Value()) < utf8.RuneCountInString(before)+utf8.RuneCountInString(printable(text)) {
		e.area.SetValue(before)
		e.hint = fmt.Sprintf("Too long for this line (%d rows): Ctrl-X Ctrl-E, or -m @FILE, takes more.", editorText)
	}
}

// printable is text without what the editor leaves out.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r != '\n' && (r < 0x20 || r >= 0x7f && r <= 0x9f) {
			return -1
		}
		return r
	}, text)
}

func (e *editor) resize(columns int) { e.area.SetWidth(max(columns-1, 8)) }

// press takes a key. With actSubmit and actEdit comes the text; the one that is submitted
// is gone from the editor.
func (e *editor) press(k tea.KeyPressMsg) (action, string) {
	e.hint = ""
	chord := e.chord
	e.chord = false
	switch name := k.String(); {
	case name == "ctrl+x":
		e.chord = true
	case chord && name == "ctrl+e":
		return actEdit, e.text()
	case name == "enter":
		return e.enter()
	case name == "ctrl+c" && e.area.Value() != "":
		e.clear()
	case name == "ctrl+c":
		return actInterrupt, ""
	case name == "ctrl+d" && e.area.Value() == "":
		return actEnd, ""
	case name == "tab":
		e.tab()
	case name == "up" && e.onRow(first), name == "ctrl+p":
		e.recall(-1)
	case name == "down" && e.onRow(last), name == "ctrl+n":
		e.recall(+1)
	case k.Text != "":
		e.insert(k.Text)
	default:
		e.area, _ = e.area.Update(k)
	}
	return actNone, ""
}

// types reports whether a key is a character and nothing else.
func (e *editor) types(k tea.KeyPressMsg) bool { return k.Text != "" && !k.Mod.Contains(tea.ModAlt) }

// enterText takes what was typed or pasted, however long: a line break in it submits nothing.
func (e *editor) enterText(text string) {
	e.hint, e.chord = "", false
	e.insert(text)
}

func (e *editor) clear() {
	e.area.Reset()
	e.at, e.draft = len(e.past.entries), ""
}

// enter submits, or goes on in the next row behind a backslash.
func (e *editor) enter() (action, string) {
	if text := e.text(); strings.HasSuffix(text, `\`) && e.cursor() == len(e.area.Value()) {
		e.set(strings.TrimSuffix(text, `\`) + "\n")
		return actNone, ""
	}
	text := e.text()
	if strings.TrimSpace(text) == "" {
		e.clear()
		return actNone, ""
	}
	err := e.past.add(text)
	e.clear()
	if err != nil {
		e.hint = Clean(err.Error())
	}
	return actSubmit, text
}

// cursor returns the byte of the area's value at which the cursor stands.
func (e *editor) cursor() int {
	pos := 0
	for i, line := range strings.Split(e.area.Value(), "\n") {
		if i < e.area.Line() {
			pos += len(line) + 1
			continue
		}
		for n, r := range []rune(line) {
			if n >= e.area.Column() {
				break
			}
			pos += utf8.RuneLen(r)
		}
		break
	}
	return pos
}

type edge int

const (
	first edge = iota
	last
)

// onRow reports whether the cursor stands on the first or the last row of the text.
func (e *editor) onRow(at edge) bool {
	info := e.area.LineInfo()
	if at == first {
		return e.area.Line() == 0 && info.RowOffset == 0
	}
	return e.area.Line() == e.area.LineCount()-1 && info.RowOffset >= info.Height-1
}

// recall shows another entry of the history; behind the newest is what was being typed.
func (e *editor) recall(by int) {
	to := e.at + by
	if to < 0 || to > len(e.past.entries) {
		return
	}
	if e.at == len(e.past.entries) {
		e.draft = e.text()
	}
	e.at = to
	if to == len(e.past.entries) {
		e.set(e.draft)
		return
	}
	e.set(e.past.entries[to])
}

// tab completes the word before the cursor, or shows what it could be.
func (e *editor) tab() {
	if e.complete == nil || e.area.Line() > 0 {
		return
	}
	value := e.area.Value()
	pos := e.cursor()
	text, newPos, choices := e.complete(value, pos)
	if text == value && newPos == pos || text == "" {
		e.hint = Clean(strings.Join(choices, "  "))
		return
	}
	e.area.SetValue(text)
	e.area.MoveToBegin()
	e.area.SetCursorColumn(utf8.RuneCountInString(text[:newPos]))
}

// view returns the rows of the editor, and where its cursor stands in them. What would
// change the order of a terminal's text is left out; it has no width.
func (e *editor) view() (string, *tea.Cursor) {
	view := strings.Map(func(r rune) rune {
		if reorders(r) {
			return -1
		}
		return r
	}, e.area.View())
	lines := strings.Split(view, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if len(lines) > 0 && lines[0] == strings.TrimSpace(promptText) {
		lines[0] = promptText
	}
	return strings.Join(lines, "\n"), e.area.Cursor()
}
