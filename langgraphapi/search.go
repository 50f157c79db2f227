package langgraphapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
)

type threadQuery struct {
	Metadata  map[string]any `json:"metadata"`
	Values    map[string]any `json:"values"`
	Status    string         `json:"status"`
	IDs       []string       `json:"ids"`
	Limit     *int           `json:"limit"`
	Offset    int            `json:"offset"`
	SortBy    string         `json:"sort_by"`
	SortOrder string         `json:"sort_order"`
	Select    []string       `json:"select"`
}

func (q threadQuery) check() error {
	switch {
	case !slices.Contains([]string{"", threadIdle, threadBusy, threadError, "interrupted"}, q.Status):
		return refused(http.StatusUnprocessableEntity, "status is %q, it must be idle, busy, interrupted or error", q.Status)
	case !slices.Contains([]string{"", "thread_id", "status", "created_at", "updated_at", "state_updated_at"}, q.SortBy):
		return refused(http.StatusUnprocessableEntity, "sort_by is %q, it must be thread_id, status, created_at or updated_at", q.SortBy)
	case !slices.Contains([]string{"", "asc", "desc"}, strings.ToLower(q.SortOrder)):
		return refused(http.StatusUnprocessableEntity, "sort_order is %q, it must be asc or desc", q.SortOrder)
	case q.Offset < 0:
		return refused(http.StatusUnprocessableEntity, "offset is %d, it must not be negative", q.Offset)
	}
	return nil
}

// sortKey is what threads are compared by.
func (q threadQuery) sortKey(t threadObject) string {
	switch q.SortBy {
	case "thread_id":
		return t.ID
	case "status":
		return t.Status
	case "updated_at", "state_updated_at":
		return t.Updated
	}
	return t.Created
}

// matching returns the caller's threads that the query selects, sorted, without their values.
func (s *Server) matching(r *http.Request, q threadQuery) (found []threadObject, ids map[string]known, err error) {
	if err := q.check(); err != nil {
		return nil, nil, err
	}
	lister, ok := s.cfg.Saver.(checkpointer.Lister)
	if !ok {
		return nil, nil, refused(http.StatusNotFound, "this server's store cannot list its threads")
	}
	ids = map[string]known{}
	for info, err := range lister.Threads(r.Context()) {
		if err != nil {
			return nil, nil, err
		}
		if runs.Internal(info.Thread) || len(q.IDs) > 0 && !slices.Contains(q.IDs, info.Thread) {
			continue
		}
		k, err := s.find(r, info.Thread)
		var p *problem
		if errors.As(err, &p) && p.status == http.StatusNotFound {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		if info.Updated.After(k.Record.Updated) {
			k.Record.Updated = info.Updated
		}
		t, err := s.object(r.Context(), k, len(q.Values) > 0)
		if err != nil {
			return nil, nil, err
		}
		if !contains(t.Metadata, q.Metadata) || q.Status != "" && t.Status != q.Status || !holds(t.Values, q.Values) {
			continue
		}
		found, ids[k.ID] = append(found, t), k
	}
	slices.SortStableFunc(found, func(a, b threadObject) int { return cmp.Compare(q.sortKey(a), q.sortKey(b)) })
	if !strings.EqualFold(q.SortOrder, "asc") {
		slices.Reverse(found)
	}
	return found, ids, nil
}

// holds reports whether v contains the values want.
func holds(v *values, want map[string]any) bool {
	if len(want) == 0 {
		return true
	}
	if v == nil {
		return false
	}
	data, err := json.Marshal(v)
	var have map[string]any
	return err == nil && json.Unmarshal(data, &have) == nil && contains(have, want)
}

func (s *Server) threadsSearch(w http.ResponseWriter, r *http.Request) {
	var q threadQuery
	if !read(w, r, &q) {
		return
	}
	found, err := s.search(w, r, q)
	s.answer(w, selected(found, q.Select), err)
}

// search finds a page of threads, with their values.
func (s *Server) search(w http.ResponseWriter, r *http.Request, q threadQuery) ([]threadObject, error) {
	limit, err := limitOf(q.Limit, 1000)
	if err != nil {
		return nil, err
	}
	found, ids, err := s.matching(r, q)
	if err != nil {
		return nil, err
	}
	found = paged(w, found, limit, q.Offset)
	wanted := len(q.Select) == 0 || slices.Contains(q.Select, "values")
	for i := range found {
		if !wanted {
			break
		}
		st, err := s.stateOf(r.Context(), ids[found[i].ID], "")
		if err != nil {
			return nil, err
		}
		if st.Checkpoint != nil {
			found[i].Values = &st.Values
		}
	}
	return found, nil
}

func (s *Server) threadsCount(w http.ResponseWriter, r *http.Request) {
	var q threadQuery
	if !read(w, r, &q) {
		return
	}
	found, _, err := s.matching(r, q)
	s.answer(w, len(found), err)
}

// paged is a page of all, and says in the head how many there are and where the next begins.
func paged[T any](w http.ResponseWriter, all []T, limit, offset int) []T {
	w.Header().Set("X-Pagination-Total", strconv.Itoa(len(all)))
	if next := offset + limit; next < len(all) {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
	}
	return page(all, limit, offset)
}

// selected keeps only the named fields of each object; no names keep all.
func selected[T any](objects []T, names []string) any {
	if len(names) == 0 {
		if objects == nil {
			return []T{}
		}
		return objects
	}
	out := make([]map[string]json.RawMessage, 0, len(objects))
	for _, o := range objects {
		var fields map[string]json.RawMessage
		data, err := json.Marshal(o)
		if err != nil || json.Unmarshal(data, &fields) != nil {
			continue // our own objects marshal
		}
		for name := range fields {
			if !slices.Contains(names, name) {
				delete(fields, name)
			}
		}
		out = append(out, fields)
	}
	return out
}
