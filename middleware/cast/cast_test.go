package cast_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/middleware/cast"
	"github.com/langrooms/langrooms/room"
)

// recorder is a model that keeps what it was sent.
type recorder struct {
	messages []llms.MessageContent
	options  llms.CallOptions
}

func (r *recorder) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	r.messages = messages
	for _, o := range options {
		o(&r.options)
	}
	if f := r.options.StreamingFunc; f != nil {
		if err := f(ctx, []byte("ok")); err != nil {
			return nil, err
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "ok"}}}, nil
}

func (r *recorder) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", fmt.Errorf("Call went around the middleware")
}

type reasoner struct{ recorder }

func (*reasoner) SupportsReasoning() bool { return true }

func spoke(name string) langrooms.Message {
	return room.NewReply(langrooms.Stamp{From: name, Exchange: "x", Round: 1}, "words")
}

func system(texts ...string) []llms.MessageContent {
	var out []llms.MessageContent
	for _, t := range texts {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, t))
	}
	return append(out, llms.TextParts(llms.ChatMessageTypeHuman, "hello"))
}

// The block is the end of the system prompt, once, whatever the prompt looks like (spec 9).
func TestBlockEndsTheSystemPrompt(t *testing.T) {
	block := room.CastBlock("boss", []string{"proto"})
	stale := room.CastBlock("boss", []string{"someone", "else"})
	for name, tt := range map[string]struct {
		in   []llms.MessageContent
		want []llms.MessageContent
	}{
		"no system prompt":        {system(), system(block)},
		"one":                     {system("Be brief."), system("Be brief.\n\n" + block)},
		"two in front":            {system("One.", "Two."), system("One.", "Two.\n\n"+block)},
		"an earlier block alone":  {system(stale), system(block)},
		"an earlier block at end": {system("Be brief.\n\n" + stale), system("Be brief.\n\n" + block)},
		"the mark as prose":       {system("Say [room] often."), system("Say [room] often.\n\n" + block)},
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(tt.in)
			inner := &recorder{}
			ctx := cast.WithThread(t.Context(), []langrooms.Message{spoke("proto")})
			if _, err := cast.Wrap(inner, func() string { return "boss" }).GenerateContent(ctx, tt.in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, inner.messages); diff != "" {
				t.Errorf("what the model is sent (-want +got):\n%s", diff)
			}
			if fmt.Sprint(tt.in) != before {
				t.Error("the caller's messages were changed")
			}
		})
	}
}

// Without a cast the prompt is untouched; a block of an earlier call goes.
func TestNoCast(t *testing.T) {
	for name, tt := range map[string]struct {
		ctx      context.Context
		in, want []llms.MessageContent
	}{
		"no thread":           {t.Context(), system("Be brief."), system("Be brief.")},
		"nobody spoke":        {cast.WithThread(t.Context(), []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "hi")}), system(), system()},
		"only a failure":      {cast.WithThread(t.Context(), []langrooms.Message{room.NewReply(langrooms.Stamp{From: "proto", Failed: true}, "x")}), system(), system()},
		"a stale block":       {t.Context(), system("Be brief.\n\n" + room.CastBlock("", []string{"gone"})), system("Be brief.")},
		"a stale block alone": {t.Context(), system(room.CastBlock("", []string{"gone"})), system()},
	} {
		t.Run(name, func(t *testing.T) {
			inner := &recorder{}
			if _, err := cast.Wrap(inner, nil).GenerateContent(tt.ctx, tt.in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, inner.messages); diff != "" {
				t.Errorf("what the model is sent (-want +got):\n%s", diff)
			}
		})
	}
}

// The wrapper forwards streaming, options and the optional interface, and does not let Call
// go around it.
func TestTransparent(t *testing.T) {
	inner := &recorder{}
	m := cast.Wrap(inner, nil)
	ctx := cast.WithThread(t.Context(), []langrooms.Message{spoke("proto")})
	var streamed []byte
	if _, err := m.GenerateContent(ctx, system(), llms.WithTemperature(0.7), llms.WithStreamingFunc(func(_ context.Context, b []byte) error {
		streamed = append(streamed, b...)
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	if inner.options.Temperature != 0.7 || string(streamed) != "ok" {
		t.Errorf("temperature %v, streamed %q: want 0.7 and ok", inner.options.Temperature, streamed)
	}
	text, err := llms.GenerateFromSinglePrompt(ctx, m, "hi")
	if err != nil || text != "ok" {
		t.Errorf("GenerateFromSinglePrompt = %q, %v", text, err)
	}
	//lint:ignore SA1019 the deprecated road must not go around the middleware
	text, err = m.Call(ctx, "hi")
	if err != nil || text != "ok" || !strings.Contains(fmt.Sprint(inner.messages), "[room]") {
		t.Errorf("Call = %q, %v; sent %v", text, err, inner.messages)
	}
	if _, ok := m.(llms.ReasoningModel); ok {
		t.Error("a model without reasoning claims to have it")
	}
	r, ok := cast.Wrap(&reasoner{}, nil).(llms.ReasoningModel)
	if !ok || !r.SupportsReasoning() {
		t.Error("a reasoning model lost its interface")
	}
	if u, ok := m.(interface{ Unwrap() llms.Model }); !ok || u.Unwrap() != llms.Model(inner) {
		t.Error("Unwrap does not give the wrapped model")
	}
}

// Two wrappers around one model leave one block.
func TestNotStacked(t *testing.T) {
	inner := &recorder{}
	m := cast.Wrap(cast.Wrap(inner, nil), nil)
	ctx := cast.WithThread(t.Context(), []langrooms.Message{spoke("proto"), spoke("reviewer")})
	if _, err := m.GenerateContent(ctx, system("Be brief.")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(fmt.Sprint(inner.messages), room.CastMark); n != 1 {
		t.Errorf("%d blocks, want 1: %v", n, inner.messages)
	}
	if !slices.ContainsFunc(inner.messages, func(m llms.MessageContent) bool { return strings.Contains(fmt.Sprint(m), "@proto, @reviewer") }) {
		t.Errorf("the speakers are not named in first-spoken order: %v", inner.messages)
	}
}

func ExampleWrap() {
	model := cast.Wrap(&recorder{}, func() string { return "lead" })
	thread := []langrooms.Message{spoke("proto"), spoke("reviewer")}
	answer, err := llms.GenerateFromSinglePrompt(cast.WithThread(context.Background(), thread), model, "Who is here?")
	fmt.Println(answer, err)
	fmt.Println(room.Cast(thread, "lead"))
	// Output:
	// ok <nil>
	// [proto reviewer]
}
