package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

// The steps of ending a process: stepGrace after its input was closed it gets SIGTERM,
// another stepGrace later SIGKILL. drainGrace bounds what is still read after its end.
const (
	stepGrace  = 750 * time.Millisecond
	drainGrace = 500 * time.Millisecond
)

// markVariable is set to a fresh id in each process's environment. What the process starts
// inherits it, and is found by it after leaving the process group.
const markVariable = "LANGROOMS_AGENT_PROCESS"

// errLost says that the connection ended before an answer; see process.epitaph.
var errLost = errors.New("the agent's process ended")

// process is one running agent with its connection.
//
// Two goroutines own it: wait sits in the system call until the process itself has
// ended, supervise decides when it has to end and clears up. done is closed when both, the
// connection, every call and every descendant are gone.
type process struct {
	config Config
	redact redact.Set
	cmd    *exec.Cmd
	mark   string
	conn   *acp.Connection
	in     *input
	out    *os.File // read by stream
	stream *stream
	errs   *os.File // standard error
	beside tail     // what the agent wrote beside the protocol
	turn   atomic.Pointer[turn]
	heard  atomic.Int64 // when the last update came, in Unix nanoseconds; 0 before the first

	calls   sync.WaitGroup
	stop    chan struct{} // closed to end the process
	stopped sync.Once
	exited  chan struct{} // closed when the process itself has ended
	done    chan struct{} // closed at last
	ended   string        // how it ended, when it did so by itself; valid after done
}

// input is the agent's standard input. broken is closed when a write has failed.
type input struct {
	io.WriteCloser
	broken chan struct{}
	once   sync.Once
}

func (in *input) Write(p []byte) (int, error) {
	n, err := in.WriteCloser.Write(p)
	if err != nil {
		in.once.Do(func() { close(in.broken) })
	}
	return n, err
}

// start starts the agent's process. Its error wraps the system's.
func start(c Config) (*process, error) {
	env := c.environment(os.Environ())
	p := &process{
		config: c, redact: redact.New(append(secrets(env), c.serverSecrets()...)...), mark: markVariable + "=" + langrooms.NewID(),
		stop: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
	p.cmd = exec.Command(c.Command, c.Args...)
	p.cmd.Dir = c.WorkDir
	p.cmd.Env = append(env, "PWD="+c.WorkDir, p.mark)
	p.cmd.SysProcAttr = ownGroup()
	closeChildEnds, err := p.pipes()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go p.wait(started)
	err = <-started
	closeChildEnds()
	if err != nil {
		p.in.Close()
		p.out.Close()
		p.errs.Close()
		if _, dirErr := os.Stat(c.WorkDir); dirErr != nil {
			return nil, &unstarted{"workdir", dirErr} // the system's own error blames the command
		}
		return nil, &unstarted{"command", err}
	}
	p.connect()
	go p.supervise()
	return p, nil
}

// pipes gives the command its three files. Standard output and error are pipes of our
// own: those of exec.Cmd are closed with the process, and lose its last words.
func (p *process) pipes() (closeChildEnds func(), err error) {
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = &input{WriteCloser: in, broken: make(chan struct{})}
	out, outChild, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	errs, errsChild, err := os.Pipe()
	if err != nil {
		in.Close()
		out.Close()
		outChild.Close()
		return nil, err
	}
	p.out, p.cmd.Stdout = out, outChild
	p.errs, p.cmd.Stderr = errs, errsChild
	return func() { outChild.Close(); errsChild.Close() }, nil
}

// connect sets up the connection. The SDK reads from its first moment on, so the stream
// is held until the SDK has its logger.
func (p *process) connect() {
	out := &gated{make(chan struct{}), p.out}
	p.stream = newStream(out, p.updated, &p.beside)
	p.conn = acp.NewConnection(p.handle, p.in, p.stream)
	p.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(out.ready)
	p.calls.Go(func() { io.Copy(&p.beside, p.errs) }) // ends with the pipe; a tail takes everything
}

// gated is a reader that starts when ready is closed.
type gated struct {
	ready chan struct{}
	io.Reader
}

func (g *gated) Read(p []byte) (int, error) {
	<-g.ready
	return g.Reader.Read(p)
}

// wait starts the process and stays with it on one thread: Linux takes the end of the
// thread that started a process for the death of its parent.
func (p *process) wait(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	_ = p.cmd.Wait() // the status is in ProcessState
	close(p.exited)
}

// supervise waits for a reason to end the process, ends it and clears up after it.
func (p *process) supervise() {
	defer close(p.done)
	select {
	case <-p.exited:
		p.ended = p.cmd.ProcessState.String()
	case <-p.conn.Done():
		p.hungUp("it closed its output")
	case <-p.in.broken:
		p.hungUp("it closed its input")
	case <-p.stop:
		p.shutDown()
	}
	killTree(p.cmd.Process.Pid, p.mark)
	deadline := time.Now().Add(drainGrace)
	_ = p.out.SetReadDeadline(deadline) // a pipe has deadlines
	_ = p.errs.SetReadDeadline(deadline)
	<-p.conn.Done()
	p.calls.Wait()
	p.out.Close()
	p.errs.Close()
}

// hungUp sees to a process that has closed one side of the connection, mostly because it is
// ending.
func (p *process) hungUp(how string) {
	if p.exitsWithin(drainGrace) {
		p.ended = p.cmd.ProcessState.String()
		return
	}
	p.ended = how
	p.shutDown()
}

// shutDown ends the process itself, from polite to certain.
func (p *process) shutDown() {
	p.in.Close()
	if p.exitsWithin(stepGrace) {
		return
	}
	terminateGroup(p.cmd.Process.Pid)
	if p.exitsWithin(stepGrace) {
		return
	}
	killTree(p.cmd.Process.Pid, p.mark)
	<-p.exited
}

func (p *process) exitsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// end ends the process with everything that it started and waits until all is gone. It
// can be called often, from many goroutines.
func (p *process) end() {
	p.stopped.Do(func() { close(p.stop) })
	<-p.done
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return p.connected()
	}
}

// epitaph waits for the end of a process whose connection was lost, which ends it, and
// says how it ended and what it wrote last.
func (p *process) epitaph() error {
	<-p.done
	if errors.Is(p.stream.failed, errLineTooLong) {
		return errLineTooLong
	}
	how := p.ended
	if how == "" {
		how = "it was stopped"
	}
	return p.withTail(fmt.Errorf("%w: %s", errLost, how))
}

// withTail adds to err what the agent wrote last beside the protocol.
func (p *process) withTail(err error) error {
	if text := p.beside.last(p.redact); text != "" {
		return fmt.Errorf("%w; it wrote: %s", err, text)
	}
	return err
}

// callResult is what came of a call: a result, an *acp.RequestError of the agent, or errLost.
type callResult struct {
	result json.RawMessage
	err    error
}

// call sends a request. The answer arrives on the channel, at the latest when the process
// ends.
func (p *process) call(method string, params any) <-chan callResult {
	answer := make(chan callResult, 1)
	p.calls.Go(func() {
		result, err := acp.SendRequest[json.RawMessage](p.conn, context.Background(), method, params)
		if err != nil && !p.connected() {
			err = errLost // the SDK says this with a request error, as if the agent had
		}
		p.stream.answerTaken() // after the look at the connection, which it lets go on
		answer <- callResult{result, err}
	})
	return answer
}

// connected reports whether both sides of the connection are open.
func (p *process) connected() bool {
	select {
	case <-p.conn.Done():
		return false
	case <-p.in.broken:
		return false
	default:
		return true
	}
}

// request calls and decodes the answer into result. It returns context.Cause(ctx) when
// ctx ends first; the process must be ended then.
func (p *process) request(ctx context.Context, method string, params, result any) error {
	select {
	case a := <-p.call(method, params):
		if a.err != nil {
			return a.err
		}
		return decode(method, a.result, result)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// command is request for what an agent answers without saying anything that is needed: some leave
// the result out then.
func (p *process) command(ctx context.Context, method string, params, result any) error {
	if err := p.request(ctx, method, params, result); !errors.Is(err, errNoResult) {
		return err
	}
	return nil
}

var errNoResult = errors.New("no result")

// errUnreadable says that an answer could not be decoded.
var errUnreadable = errors.New("the agent's answer cannot be read")

func decode(method string, data json.RawMessage, result any) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: %s: %w", errUnreadable, method, errNoResult)
	}
	if err := json.Unmarshal(data, result); err != nil {
		return fmt.Errorf("%w: %s: %w", errUnreadable, method, delegate.DecodeCause(err))
	}
	return nil
}
