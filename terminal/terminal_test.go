package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// echo answers with the text, and fails on "fail".
func echo(_ context.Context, in terminal.Input) (langrooms.Result, error) {
	if in.Text == "fail" {
		return langrooms.Result{Thread: "t"}, errors.New("the store is away")
	}
	return langrooms.Result{Thread: "t", Handled: true, Text: "you said " + in.Text}, nil
}

func TestOneTurn(t *testing.T) {
	var out, diag bytes.Buffer
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, false), OneTurn: true, Message: "hi", Turn: echo}
	expect(t, "error", nil, c.Run(t.Context()))
	expect(t, "stdout: the operator's text and nothing else", "you said hi\n", out.String())
	expect(t, "stderr", "", diag.String())
}

func TestOneTurnFails(t *testing.T) {
	var out, diag bytes.Buffer
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, false), OneTurn: true, Message: "fail", Turn: echo}
	if err := c.Run(t.Context()); !errors.Is(err, terminal.ErrTurn) {
		t.Errorf("the error is %v, want ErrTurn", err)
	}
	expect(t, "stdout", "", out.String())
	expect(t, "stderr", "error: the store is away\n", diag.String())
}

// Each line is a turn; empty ones are none; a failed turn does not end the chat.
func TestLines(t *testing.T) {
	var out, diag bytes.Buffer
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, false), Turn: echo,
		In: strings.NewReader("one\n\n  \r\nfail\ntwo\r\nthree")}
	if err := c.Run(t.Context()); !errors.Is(err, terminal.ErrTurn) {
		t.Errorf("the error is %v, want ErrTurn", err)
	}
	expect(t, "stdout", "you said one\nyou said two\nyou said three\n", out.String())
	expect(t, "stderr", "error: the store is away\n", diag.String())
}

// A line that is too long is an error of its own, and the next one works.
func TestLongLine(t *testing.T) {
	var out, diag bytes.Buffer
	in := strings.Repeat("x", 4*langrooms.MaxText+10) + "\nshort\n"
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, false), Turn: echo, In: strings.NewReader(in)}
	if err := c.Run(t.Context()); !errors.Is(err, terminal.ErrTurn) {
		t.Errorf("the error is %v, want ErrTurn", err)
	}
	expect(t, "stdout", "you said short\n", out.String())
	if !strings.Contains(diag.String(), "invalid message: a line longer than 2000002 bytes") {
		t.Errorf("stderr: %q", diag.String())
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }

func TestBrokenInput(t *testing.T) {
	var out, diag bytes.Buffer
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, false), Turn: echo, In: brokenReader{}}
	if err := c.Run(t.Context()); !errors.Is(err, terminal.ErrTurn) {
		t.Errorf("the error is %v, want ErrTurn", err)
	}
	expect(t, "stderr", "error: reading the input: the pipe broke\n", diag.String())
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// When nobody can read the answers the chat ends.
func TestBrokenOutput(t *testing.T) {
	for _, json := range []bool{false, true} {
		c := terminal.Chat{Printer: terminal.NewPrinter(brokenWriter{}, io.Discard, json), Turn: echo, In: strings.NewReader("one\ntwo\n")}
		if err := c.Run(t.Context()); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("json %t: the error is %v, want EPIPE", json, err)
		}
	}
}

// That ends it although the input stays open.
func TestBrokenOutputWithOpenInput(t *testing.T) {
	r, w := io.Pipe()
	c := terminal.Chat{Printer: terminal.NewPrinter(brokenWriter{}, io.Discard, false), Turn: echo, In: r}
	var chat sync.WaitGroup
	chat.Go(func() {
		if err := c.Run(t.Context()); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the error is %v, want EPIPE", err)
		}
	})
	if _, err := io.WriteString(w, "one\n"); err != nil {
		t.Fatal(err)
	}
	chat.Wait()
	w.Close()
}

// A turn that was stopped while it waited for its thread is a result and no error.
func TestStoppedBeforeItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, diag bytes.Buffer
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, true), OneTurn: true, Message: "hi",
		Turn: func(ctx context.Context, _ terminal.Input) (langrooms.Result, error) {
			cancel()
			<-ctx.Done()
			return langrooms.Result{Thread: "t"}, fmt.Errorf("waiting for the thread: %w", ctx.Err())
		}}
	expect(t, "error", nil, c.Run(ctx))
	expect(t, "stdout", `{"type":"done","thread":"t","handled":false,"reason":"stopped","stopped":{"kind":"stopped"},"text":"Stopped by the operator.","aside":"Stopped by the operator."}`+"\n", out.String())
	expect(t, "stderr", "", diag.String())
}

// With --json: events as they happen, each turn ends with its own done, an error too.
func TestJSONLines(t *testing.T) {
	var out, diag bytes.Buffer
	p := terminal.NewPrinter(&out, &diag, true)
	turn := func(ctx context.Context, in terminal.Input) (langrooms.Result, error) {
		in.Events.Emit(langrooms.Event{Type: langrooms.EventDispatchStarted, Thread: "t", Member: "proto", Round: 1})
		return echo(ctx, in)
	}
	p.Notice("a change needs a restart")
	c := terminal.Chat{Printer: p, Turn: turn, In: strings.NewReader("a\u009b<b>\nfail\n")}
	if err := c.Run(t.Context()); !errors.Is(err, terminal.ErrTurn) {
		t.Errorf("the error is %v, want ErrTurn", err)
	}
	expect(t, "lines", strings.Join([]string{
		`{"type":"notice","text":"a change needs a restart"}`,
		`{"type":"dispatch_started","thread":"t","member":"proto","round":1}`,
		`{"type":"done","thread":"t","handled":true,"text":"you said a\u009b<b>"}`,
		`{"type":"dispatch_started","thread":"t","member":"proto","round":1}`,
		`{"type":"done","thread":"t","handled":false,"text":"","error":"the store is away"}`,
	}, "\n")+"\n", out.String())
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// An interrupt stops the running turn; the next one works; between turns it ends the chat.
func TestInterrupt(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	interrupt := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}
	var turns []string
	over := make(chan struct{}, 2)
	turn := func(ctx context.Context, in terminal.Input) (langrooms.Result, error) {
		defer func() { over <- struct{}{} }()
		if in.Text == "slow" {
			interrupt()
			<-ctx.Done()
		}
		turns = append(turns, in.Text)
		return langrooms.Result{Text: in.Text}, nil
	}
	var out, diag bytes.Buffer
	c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, false), Turn: turn, In: r}
	var chat sync.WaitGroup
	chat.Go(func() { expect(t, "error", nil, c.Run(t.Context())) })
	for _, line := range []string{"slow\n", "quick\n"} {
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
		<-over
	}
	interrupt()
	chat.Wait() // although the input stays open
	w.Close()
	expect(t, "turns", []string{"slow", "quick"}, turns)
}

// What lands between turns is shown, and wakes the lead when it has a notice.
func TestArrivals(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		arrivals := make(chan langrooms.Arrival)
		r, w := io.Pipe()
		var out, diag bytes.Buffer
		c := terminal.Chat{Printer: terminal.NewPrinter(&out, &diag, asJSON), Turn: echo, In: r, Arrivals: arrivals,
			Wake: func(_ context.Context, notice string, _ langrooms.Sink) (langrooms.Result, error) {
				return langrooms.Result{Thread: "t", Text: "the lead: " + notice}, nil
			}}
		var chat sync.WaitGroup
		chat.Go(func() { expect(t, "error", nil, c.Run(t.Context())) })
		late := langrooms.NewMessage(langrooms.RoleHuman, "(This arrived after its turn.)\nhere\x1b[2J")
		late.ID, late.Time = "id", late.Time.Truncate(0)
		late.Stamp = &langrooms.Stamp{From: "slow", Late: true}
		arrivals <- langrooms.Arrival{Thread: "t", Message: late, Notice: "it came"}
		arrivals <- langrooms.Arrival{Thread: "t", Message: late}
		if _, err := io.WriteString(w, "bye\n"); err != nil {
			t.Fatal(err)
		}
		w.Close()
		chat.Wait()
		if !asJSON {
			said := "**@slow** — (This arrived after its turn.)\nhere<1B>[2J\n"
			expect(t, "stdout", said+"the lead: it came\n"+said+"you said bye\n", out.String())
			continue
		}
		var types []string
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			var v struct{ Type string }
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			types = append(types, v.Type)
		}
		expect(t, "types of the lines", []string{"message", "done", "message", "done"}, types)
	}
}

// A message that arrives between turns leaves nothing running.
func TestArrivalIsNoTurn(t *testing.T) {
	var out bytes.Buffer
	p := terminal.NewPrinter(&out, &out, false)
	late := langrooms.NewMessage(langrooms.RoleHuman, "here")
	p.Event(langrooms.Event{Type: langrooms.EventMessage, Message: &late})
	p.Doing("waiting")
	expect(t, "output", "here\n", out.String())
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tä\n":                      "plain\tä\n",
		"\x1b[31mred":                     "<1B>[31mred",
		"a\rb":                            "a<0D>b",
		"a\r\nb\x07":                      "a\nb<07>",
		"\u009b31m\x7f":                   "<9B>31m<7F>",
		"bad \x9b utf-8":                  "bad \uFFFD utf-8",
		"null\x00":                        "null<00>",
		"\x1b]8;;http://x":                "<1B>]8;;http://x",
		"a\u202egnp.exe":                  "a<202E>gnp.exe",
		"\u2066a\u2069\u200f\u061c\u2028": "<2066>a<2069><200F><61C><2028>",
	} {
		expect(t, in, want, terminal.Clean(in))
	}
}

// Text is cleaned by whole characters, wherever its pieces are cut; JSON keeps its values.
func TestCleanWriter(t *testing.T) {
	const text = "ä\u009b\x1b[31m\x7f€\n"
	value, err := terminal.JSONLine(text)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "JSON", `"ä\u009b\u001b[31m\u007f€\n"`+"\n", string(value))
	for cut := range len(text) {
		var out bytes.Buffer
		w := terminal.CleanWriter(&out, false)
		for _, piece := range []string{text[:cut], text[cut:]} {
			if n, err := io.WriteString(w, piece); err != nil || n != len(piece) {
				t.Errorf("%d, %v", n, err)
			}
		}
		expect(t, "text", terminal.Clean(text), out.String())
		out.Reset()
		w = terminal.CleanWriter(&out, true)
		io.WriteString(w, "\""+text[:cut])
		io.WriteString(w, strings.TrimSuffix(text[cut:], "\n")+"\"")
		expect(t, "escaped", `"ä\u009b\u001b[31m\u007f€"`, out.String())
	}
	if _, err := terminal.CleanWriter(brokenWriter{}, false).Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the error is %v", err)
	}
	if _, err := terminal.JSONLine(func() {}); err == nil {
		t.Error("a function has become JSON")
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31m\u009b\r\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := terminal.Clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
			return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f
		}) {
			t.Errorf("Clean(%q) = %q", text, got)
		}
	})
}

func ExampleChat() {
	c := terminal.Chat{
		Printer: terminal.NewPrinter(os.Stdout, os.Stderr, false),
		In:      strings.NewReader("@proto what broke the build?\n"),
		Turn: func(_ context.Context, in terminal.Input) (langrooms.Result, error) {
			return langrooms.Result{Handled: true, Text: "auth did"}, nil
		},
	}
	if err := c.Run(context.Background()); err != nil {
		os.Exit(1)
	}
	// Output: auth did
}
