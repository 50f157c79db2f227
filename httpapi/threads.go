package httpapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/lifecycle"
)

// Threads does something to a whole thread that the caller may use, and is thread.ErrNone for any
// other. See [lifecycle.Threads], whose errors come back.
type Threads interface {
	// Rewind drops what follows a message, which stays, and returns how many messages that was.
	Rewind(ctx context.Context, who Caller, thread, message string) (removed int, err error)
	// Uncompact puts what summaries replaced back and returns how many messages that was.
	Uncompact(ctx context.Context, who Caller, thread string) (restored int, err error)
	// Export writes the thread. Nothing is written of one that cannot be exported.
	Export(ctx context.Context, who Caller, thread string, format lifecycle.Format, w io.Writer) error
	// Import reads a JSON export into the new thread, which is then the caller's, and returns how
	// many messages it has. checkpointer.ErrConflict where the thread exists.
	Import(ctx context.Context, who Caller, thread string, r io.Reader) (messages int, err error)
}

// wholeBound is how long one of them may take, the wait for the thread included.
const wholeBound = time.Minute

// onThread calls do for the thread of a request. A thread that is held until the end is busy.
func (s *Server) onThread(r *http.Request, do func(ctx context.Context, who Caller, id string) error) error {
	if s.cfg.Threads == nil {
		return errNoThread
	}
	ctx, cancel := context.WithTimeout(r.Context(), wholeBound)
	defer cancel()
	err := do(ctx, s.cfg.Who(r), r.PathValue("id"))
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		return errBusy
	}
	return err
}

var errBusy = &refusal{http.StatusConflict, "busy", "the thread is busy"}

type rewindQuery struct {
	Message string `json:"message"`
}

// rewind drops what follows a message.
func (s *Server) rewind(w http.ResponseWriter, r *http.Request) (any, error) {
	var q rewindQuery
	if err := read(w, r, &q); err != nil {
		return nil, err
	}
	if q.Message == "" {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "message is the id of the message to keep last"}
	}
	var a rewound
	err := s.onThread(r, func(ctx context.Context, who Caller, id string) (err error) {
		a.Removed, err = s.cfg.Threads.Rewind(ctx, who, id, q.Message)
		return err
	})
	return a, err
}

// uncompact puts what summaries replaced back.
func (s *Server) uncompact(_ http.ResponseWriter, r *http.Request) (any, error) {
	var a uncompacted
	err := s.onThread(r, func(ctx context.Context, who Caller, id string) (err error) {
		a.Restored, err = s.cfg.Threads.Uncompact(ctx, who, id)
		return err
	})
	return a, err
}

// maxImport bounds an export that is read, in bytes.
const maxImport = 16 << 20

// importThread reads an export into a new thread. Its messages say who spoke and which tasks wait at
// which peer, which is believed, so only admins may.
func (s *Server) importThread(w http.ResponseWriter, r *http.Request) (any, error) {
	var a imported
	body := http.MaxBytesReader(w, r.Body, maxImport)
	err := s.onThread(r, func(ctx context.Context, who Caller, id string) (err error) {
		a.Messages, err = s.cfg.Threads.Import(ctx, who, id, body)
		return err
	})
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, errLarge
	}
	return a, err
}

// export gives a thread to be saved.
func (s *Server) export(w http.ResponseWriter, r *http.Request) (any, error) {
	format, kind := lifecycle.JSON, "application/json"
	switch r.URL.Query().Get("format") {
	case "", string(lifecycle.JSON):
	case string(lifecycle.Markdown):
		format, kind = lifecycle.Markdown, "text/markdown; charset=utf-8"
	default:
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_request", "format must be json or md"}
	}
	out := &download{w: w, name: r.PathValue("id") + "." + string(format), kind: kind}
	err := s.onThread(r, func(ctx context.Context, who Caller, id string) error {
		return s.cfg.Threads.Export(ctx, who, id, format, out)
	})
	if out.begun {
		if err != nil {
			panic(http.ErrAbortHandler) // what has come is not all of it
		}
		return nothing{}, nil
	}
	return nothing{}, err
}

// nothing is the answer of who has written it already.
type nothing struct{}

// download is a file to be saved that is written piece by piece.
type download struct {
	w          http.ResponseWriter
	name, kind string
	begun      bool
}

func (d *download) Write(p []byte) (int, error) {
	if !d.begun && len(p) > 0 {
		d.begun = true
		saveAs(d.w, d.name, d.kind)
		d.w.WriteHeader(http.StatusOK)
	}
	if !d.begun {
		return 0, nil
	}
	return d.w.Write(p)
}

// saveAs heads what came from peers or clients and is to be saved: no browser is to run or guess
// anything of it on this origin.
func saveAs(w http.ResponseWriter, name, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": langrooms.FileName(name)}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, no-store")
}
