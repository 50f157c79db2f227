package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// delegateType is a type of delegate with the keys of its entries.
type delegateType struct {
	Type   string          `json:"type"`
	Fields []setting.Field `json:"fields"`
}

// types are the types of delegates with the schema of their entries. Secrets are not among
// the keys: a credential is named by the variable that holds it.
func (s *Server) types(http.ResponseWriter, *http.Request) (any, error) {
	all := []delegateType{}
	for _, f := range hotreload.Schema() {
		if f.Key == "delegates[].type" {
			for _, name := range f.Choices {
				all = append(all, delegateType{name, entryFields(name)})
			}
		}
	}
	return delegateTypes{all, s.now().Version}, nil
}

// entryFields are the keys of an entry of a type, by their names in it.
func entryFields(typ string) []setting.Field {
	fields := []setting.Field{}
	for _, f := range hotreload.Schema() {
		key, ok := strings.CutPrefix(f.Key, "delegates[].")
		of := f.Types == nil || slices.Contains(f.Types, typ)
		if !ok || !of || f.Kind == setting.SecretText || f.Kind == setting.Entries || strings.Contains(key, "[]") || key == "name" || key == "type" {
			continue
		}
		f.Key = key
		fields = append(fields, f)
	}
	return fields
}

// entry is an entry of the roster as the file has it. What is secret, and what holds such, is
// named in Hidden and never shown.
type entry struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	Values  map[string]string `json:"values"`
	Hidden  []string          `json:"hidden"`
	Version string            `json:"version"`
}

var errNoDelegate = &refusal{http.StatusNotFound, "delegate_not_found", "there is no such delegate"}

func (s *Server) delegate(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.entry(r.PathValue("name"))
}

func (s *Server) entry(name string) (any, error) {
	c, version := s.cfg.InForce(), ""
	if f := s.cfg.File; f != nil {
		snapshot := f.Current()
		c, version = snapshot.Config, snapshot.Digest
	}
	i := slices.IndexFunc(c.Delegates, func(d hotreload.Delegate) bool { return d.Name == name })
	if i < 0 {
		return nil, errNoDelegate
	}
	e := entry{Name: name, Type: c.Delegates[i].Type, Values: map[string]string{}, Hidden: []string{}, Version: version}
	fields := entryFields(e.Type)
	for _, v := range c.Values() {
		key, ok := strings.CutPrefix(v.Key, "delegates."+name+".")
		if !ok || v.Default || key == "name" || key == "type" {
			continue
		}
		at := slices.IndexFunc(fields, func(f setting.Field) bool { return f.Key == key })
		switch {
		case at < 0, !editable(fields[at]), strings.Contains(v.Value, "***"):
			e.Hidden = append(e.Hidden, key)
		case fields[at].Kind == setting.Variable:
			e.Values[key] = strings.Trim(v.Value, "($)")
		default:
			e.Values[key] = v.Value
		}
	}
	return e, nil
}

// editable reports whether one value stands behind a key, which can be replaced alone.
func editable(f setting.Field) bool {
	switch f.Kind {
	case setting.List, setting.Map, setting.Values, setting.SecretText:
		return false
	}
	return true
}

type entryQuery struct {
	Version string                     `json:"version"`
	Name    string                     `json:"name"`
	Type    string                     `json:"type"`
	Values  map[string]json.RawMessage `json:"values"`
}

// addDelegate puts an entry at the end of the roster and takes it.
func (s *Server) addDelegate(w http.ResponseWriter, r *http.Request) (any, error) {
	var q entryQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	d, err := q.delegate()
	if err != nil {
		return nil, err
	}
	err = s.edit(r, q.Version, func(path string, data []byte) ([]byte, error) { return hotreload.InsertDelegate(path, data, d) })
	if err != nil {
		return nil, err
	}
	return s.entry(d.Name)
}

// delegate is the entry that is asked for, as the parser of the file reads it.
func (q entryQuery) delegate() (hotreload.Delegate, error) {
	bad := func(message string) (hotreload.Delegate, error) {
		return hotreload.Delegate{}, &refusal{http.StatusUnprocessableEntity, "invalid_delegate", message}
	}
	if q.Version == "" {
		return bad("version is required")
	}
	if err := delegate.CheckName(q.Name); err != nil {
		return bad(err.Error())
	}
	fields := entryFields(q.Type)
	body := map[string]any{"name": q.Name, "type": q.Type}
	for key, raw := range q.Values {
		i := slices.IndexFunc(fields, func(f setting.Field) bool { return f.Key == key })
		if i < 0 {
			return bad(key + " cannot be set here")
		}
		var n float64
		if most := fields[i].Ceiling; most > 0 && json.Unmarshal(raw, &n) == nil && n > most { // which a file is forgiven
			return bad(fmt.Sprintf("%s: %v is more than %v", key, n, most))
		}
		at := body
		path := strings.Split(key, ".")
		for _, part := range path[:len(path)-1] {
			inner, ok := at[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[part] = inner
			}
			at = inner
		}
		at[path[len(path)-1]] = raw
	}
	data, err := json.Marshal(map[string]any{"delegates": []any{body}}) // JSON is YAML
	if err != nil {
		return hotreload.Delegate{}, err
	}
	c, findings, err := hotreload.Parse("delegate", data)
	switch {
	case err != nil:
		return bad("the entry cannot be read")
	case hotreload.HasErrors(findings):
		return bad(findings[slices.IndexFunc(findings, func(f hotreload.Finding) bool { return f.Severity == hotreload.Error })].Message)
	case len(c.Delegates) != 1:
		return bad("the entry cannot be read")
	}
	return c.Delegates[0], nil
}

// changeDelegate changes values of an entry, and no other byte of the file.
func (s *Server) changeDelegate(w http.ResponseWriter, r *http.Request) (any, error) {
	var q entryQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	now, err := s.entry(name)
	if err != nil {
		return nil, err
	}
	if q.Version == "" || len(q.Values) == 0 {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "version and values are required"}
	}
	fields := slices.DeleteFunc(entryFields(now.(entry).Type), func(f setting.Field) bool { return !editable(f) })
	values, err := textsOf(fields, q.Values)
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i].key = "delegates." + name + "." + values[i].key
	}
	if err := s.edit(r, q.Version, replacing(values)); err != nil {
		return nil, err
	}
	return s.entry(name)
}

// removeDelegate takes an entry out of the roster. What it has said stays on the threads.
func (s *Server) removeDelegate(_ http.ResponseWriter, r *http.Request) (any, error) {
	name := r.PathValue("name")
	if _, err := s.entry(name); err != nil {
		return nil, err
	}
	version := r.URL.Query().Get("version")
	if version == "" {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "version is required"}
	}
	err := s.edit(r, version, func(path string, data []byte) ([]byte, error) { return hotreload.DropDelegate(path, data, name) })
	if err != nil {
		return nil, err
	}
	return removed{name, s.now().Version}, nil
}
