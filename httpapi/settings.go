package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// settings is the configuration as a form shows it. Secrets are hidden.
type settings struct {
	Schema []setting.Field `json:"schema"`
	// InForce has the values by their dotted keys, those of lists left out: they are the
	// roster's and the keys'.
	InForce map[string]any `json:"in_force"`
	// Written has the values that stand in the file as it is now, by the same keys, as far as they
	// are no texts: in force may be others.
	Written map[string]string `json:"written"`
	// Path is the file, empty where there is none; Version is the digest of its bytes.
	Path    string `json:"path"`
	Version string `json:"version"`
	// Faults are the remarks about the file, and why its newest bytes were not taken.
	Faults []hotreload.Finding `json:"faults"`
}

func (s *Server) settings(http.ResponseWriter, *http.Request) (any, error) { return s.now(), nil }

// now is the settings as they are.
func (s *Server) now() settings {
	c := s.cfg.InForce()
	out := settings{Schema: plainFields(), InForce: map[string]any{}, Written: map[string]string{}, Faults: []hotreload.Finding{}}
	if f := s.cfg.File; f != nil {
		snapshot := f.Current()
		c = snapshot.Config
		out.Path, out.Version = f.Path(), snapshot.Digest
		out.Faults = append(out.Faults, snapshot.Findings...)
		if data, err := hotreload.ReadFile(f.Path()); err == nil { // else the file's fault says why
			out.Written = hotreload.Written(f.Path(), data)
		}
		if fault := f.Fault(); fault != nil {
			out.Faults = append(out.Faults, faultOf(fault))
		}
	}
	for _, v := range c.Values() {
		i := slices.IndexFunc(out.Schema, func(f setting.Field) bool { return f.Key == v.Key })
		if i < 0 {
			continue
		}
		out.InForce[v.Key] = v.Value
		switch n, err := strconv.ParseFloat(v.Value, 64); {
		case err != nil:
		case out.Schema[i].Kind == setting.Whole, out.Schema[i].Kind == setting.Number, out.Schema[i].Kind == setting.Seconds:
			out.InForce[v.Key] = n
		}
	}
	return out
}

// faultOf is why a file was not taken, with its line where it has one.
func faultOf(fault error) hotreload.Finding {
	f := hotreload.Finding{Severity: hotreload.Error, Message: fault.Error()}
	var syntax *hotreload.SyntaxError
	if errors.As(fault, &syntax) {
		f.File, f.Line, f.Column, f.Message = syntax.File, syntax.Line, syntax.Column, syntax.Message
	}
	return f
}

// plainFields are the keys that one value stands behind.
func plainFields() []setting.Field {
	return slices.DeleteFunc(hotreload.Schema(), func(f setting.Field) bool {
		return strings.Contains(f.Key, "[]") || f.Kind == setting.Entries
	})
}

type saveQuery struct {
	// Version is that of the file which the caller has seen.
	Version string                     `json:"version"`
	Values  map[string]json.RawMessage `json:"values"`
}

// save changes values of the file in one step and takes it.
func (s *Server) save(w http.ResponseWriter, r *http.Request) (any, error) {
	var q saveQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	values, err := q.texts()
	if err != nil {
		return nil, err
	}
	if err := s.edit(r, q.Version, replacing(values)); err != nil {
		return nil, err
	}
	return s.now(), nil
}

// edit changes the file that the caller has seen in one step, and takes it.
func (s *Server) edit(r *http.Request, version string, change func(path string, data []byte) ([]byte, error)) error {
	if s.cfg.File == nil {
		return &refusal{http.StatusConflict, "no_file", "there is no configuration file to save into"}
	}
	path := s.cfg.File.Path()
	if _, err := hotreload.Save(path, version, func(data []byte) ([]byte, error) { return change(path, data) }); err != nil {
		_ = s.cfg.File.Reload(r.Context()) // a newer file is shown with the refusal
		return err
	}
	if err := s.cfg.File.Reload(r.Context()); err != nil {
		return &refusal{http.StatusConflict, "not_taken", err.Error()}
	}
	return nil
}

func replacing(values []keyText) func(string, []byte) ([]byte, error) {
	return func(path string, data []byte) (_ []byte, err error) {
		for _, v := range values {
			if data, err = hotreload.Replace(path, data, v.key, v.text); err != nil {
				return nil, err
			}
		}
		return data, nil
	}
}

type keyText struct{ key, text string }

// texts is the values as the file takes them, in the order of their keys. Secrets are not
// among them: they go into variables.
func (q saveQuery) texts() ([]keyText, error) {
	if q.Version == "" || len(q.Values) == 0 {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "version and values are required"}
	}
	return textsOf(plainFields(), q.Values)
}

// textsOf is values as the file takes them, for keys among fields.
func textsOf(fields []setting.Field, values map[string]json.RawMessage) ([]keyText, error) {
	unusable := func(message string) error { return &refusal{http.StatusUnprocessableEntity, "invalid_value", message} }
	var all []keyText
	for key, raw := range values {
		i := slices.IndexFunc(fields, func(f setting.Field) bool { return f.Key == key })
		if i < 0 || fields[i].Kind == setting.SecretText {
			return nil, unusable(key + " cannot be set here")
		}
		text := strings.TrimSpace(string(raw))
		if strings.HasPrefix(text, `"`) && json.Unmarshal(raw, &text) != nil || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || text == "null" {
			return nil, unusable(key + ": not a value that this key takes")
		}
		all = append(all, keyText{key, text})
	}
	slices.SortFunc(all, func(a, b keyText) int { return strings.Compare(a.key, b.key) })
	return all, nil
}
