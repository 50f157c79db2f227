package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/langrooms/langrooms"
)

// File is a file on a thread, without its content.
type File struct {
	// Message is the message that it stands on, N its number there, from 0.
	Message string `json:"message"`
	N       int    `json:"n"`
	Name    string `json:"name"`
	// Type is the media type that the content shows.
	Type  string    `json:"type"`
	Bytes int       `json:"bytes"`
	From  string    `json:"from"`
	Time  time.Time `json:"time"`
}

// files lists what went with the messages of a thread, the newest first.
func (s *Server) files(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.cfg.Files == nil {
		return nil, errNoThread
	}
	files, err := s.cfg.Files(r.Context(), s.cfg.Who(r), r.PathValue("id"))
	if files == nil {
		files = []File{}
	}
	return fileList{files}, err
}

var errNoFile = &refusal{http.StatusNotFound, "file_not_found", "there is no such file on the thread"}

// openFile gives a file out.
func (s *Server) openFile(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.cfg.OpenFile == nil {
		return nil, errNoThread
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 {
		return nil, errNoFile
	}
	file, ok, err := s.cfg.OpenFile(r.Context(), s.cfg.Who(r), r.PathValue("id"), r.PathValue("message"), n)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errNoFile
	}
	return file, nil
}

// send gives a file to be saved.
func send(w http.ResponseWriter, f langrooms.Part) {
	kind := f.MIMEType
	if _, _, err := mime.ParseMediaType(kind); err != nil {
		kind = "application/octet-stream"
	}
	saveAs(w, f.Name, kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.Data) // who asked may have gone
}
