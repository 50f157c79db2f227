package acpagent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxLine is the longest message that is read, in bytes; the SDK's own limit is 10 MiB
// with the line break.
const maxLine = 10<<20 - 1

// errLineTooLong ends a connection: what follows such a line cannot be told apart.
var errLineTooLong = fmt.Errorf("the agent sent a message of more than %d bytes", maxLine)

// stream is an agent's standard output on its way to the SDK's connection, which reads
// from it. It takes out what the connection would not handle well:
//
//   - Updates go straight to update, in their order and before the answer that follows
//     them. The connection would queue them and close when 1,024 wait; here a slow
//     consumer slows the agent down.
//   - Lines that are no JSON-RPC message, such as a banner, go to junk; so does what stands
//     before a message on its line, such as a terminal's escape sequence.
//   - Other notifications are dropped: this client knows none.
//   - The next line is not read before an answer has been taken by who waits for it. The
//     connection would otherwise pick between an answer and the end of the stream by
//     chance, when the agent answers and exits.
type stream struct {
	lines  *bufio.Reader
	update func(json.RawMessage)
	junk   io.Writer
	taken  chan struct{} // a token for each answer taken
	wait   bool          // an answer was handed out by the last Read
	rest   []byte        // what the connection has yet to read of a line
	failed error         // set before the first Read that returns it; read after the connection is done
}

func newStream(r io.Reader, update func(json.RawMessage), junk io.Writer) *stream {
	return &stream{lines: bufio.NewReaderSize(r, 64<<10), update: update, junk: junk, taken: make(chan struct{}, 1)}
}

// answerTaken tells that the answer to a request has arrived at who waits for it.
func (s *stream) answerTaken() {
	select {
	case s.taken <- struct{}{}:
	default:
	}
}

// Read hands out messages for the connection. It is called by one goroutine.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		s.settle()
		line, err := s.line()
		if err != nil {
			s.failed = err
			return 0, err
		}
		s.sort(line)
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// settle waits until the last answer has been taken. Nobody takes one that answers no
// request, so the wait is short.
func (s *stream) settle() {
	if !s.wait {
		return
	}
	s.wait = false
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-s.taken:
	case <-timer.C:
	}
}

// sort sends one line where it belongs.
func (s *stream) sort(line []byte) {
	line, head, ok := s.message(line)
	if !ok {
		return
	}
	switch {
	case head.ID == nil && head.Method == "session/update":
		s.update(head.Params)
	case head.ID == nil:
	case head.Method == "":
		s.drainToken()
		s.wait = true
		s.rest = line
	default:
		s.rest = line
	}
}

// messageHead is what tells the messages of JSON-RPC apart.
type messageHead struct {
	ID     *json.RawMessage `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
}

// maxBraces is how many braces of a line are looked at in search of a message behind a
// banner.
const maxBraces = 16

// message returns the message that a line ends in. All else goes to junk.
func (s *stream) message(line []byte) (_ []byte, head messageHead, ok bool) {
	for at, n := 0, 0; n < maxBraces; n++ {
		next := bytes.IndexByte(line[at:], '{')
		if next < 0 {
			break
		}
		at += next
		if json.Unmarshal(line[at:], &head) == nil {
			s.junk.Write(bytes.TrimSpace(line[:at])) // a tail: never fails
			return line[at:], head, true
		}
		at++
	}
	if len(bytes.TrimSpace(line)) > 0 {
		s.junk.Write(line)
	}
	return nil, head, false
}

func (s *stream) drainToken() {
	select {
	case <-s.taken:
	default:
	}
}

// line reads one line with its line break; the last one may have none. It is valid until
// the next call.
func (s *stream) line() ([]byte, error) {
	line, err := s.lines.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > maxLine {
			return nil, errLineTooLong
		}
		line, err = s.lines.ReadSlice('\n')
		long = append(long, line...)
	}
	switch {
	case len(bytes.TrimSuffix(long, []byte("\n"))) > maxLine:
		return nil, errLineTooLong
	case err == nil, errors.Is(err, io.EOF) && len(long) > 0:
		return long, nil
	default:
		return nil, err
	}
}
