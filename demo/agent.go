package demo

import (
	"context"
	"strings"
	"sync"
)

// situation is what an agent has when it is asked.
type situation struct {
	prompt
	// dir is the working folder.
	dir string
	// step is told what the agent is about to do. It may refuse, with words for the
	// asker; nil allows everything.
	step func(ctx context.Context, title string) error
}

// begin announces a step.
func (s situation) begin(ctx context.Context, title string) error {
	if s.step == nil {
		return ctx.Err()
	}
	return s.step(ctx, title)
}

// agent is a demo agent: a name and a brain without a model.
type agent struct {
	name, description string
	// answer says what the agent finds. An error means that ctx ended or that a step was
	// refused; whatever else goes wrong is part of the answer.
	answer func(ctx context.Context, s situation) (string, error)
	// react says something new about what the others have just said, or "". Nil never
	// does.
	react func(ctx context.Context, s situation) (string, error)
}

// agents are the members of the demo.
func agents() map[string]agent {
	all := make(map[string]agent)
	for _, a := range []agent{
		{"proto", "runs go build and go vet in the working folder and reports what broke", protoAnswer, protoReact},
		{"reviewer", "reads the last commits, the status and the diff of the working folder", reviewerAnswer, reviewerReact},
		{"oracle", "answers from the conversation it was shown", oracleAnswer, nil},
	} {
		all[a.name] = a
	}
	return all
}

// memory is what an agent remembers of one conversation, so that it can tell a new address
// from another round of the same one. Safe for concurrent use.
type memory struct {
	mu       sync.Mutex
	question string
	// passedOnNothing: the last reply was a pass on an empty window.
	passedOnNothing bool
	reacted         bool
}

// reply is what the agent says. It answers a new address, reacts at most once to what
// another member said after that and was not known for the answer, and passes when it may and has nothing new.
func (a agent) reply(ctx context.Context, s situation, m *memory) (string, error) {
	fresh, mayReact := m.look(s.prompt)
	if fresh {
		text, err := a.answer(ctx, s)
		if err == nil {
			m.answered(s.prompt)
		}
		return text, err
	}
	if a.react != nil && mayReact {
		text, err := a.react(ctx, s)
		if err != nil {
			return "", err
		}
		if text != "" {
			m.spokeUp()
			return text, nil
		}
	}
	m.passed(s.prompt)
	return pass, nil
}

// look reports whether the prompt is a new address and no further round, and if it is a
// round, whether there is something to react to. A round shows what the others said
// since; it never shows the operator's words again, and a room does not go on after a
// round in which nobody spoke.
func (m *memory) look(p prompt) (fresh, mayReact bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh = !p.mayPass || p.question != m.question || p.operatorSpoke() ||
		len(p.lines) == 0 && m.passedOnNothing
	return fresh, !m.reacted && len(p.fromMembers()) > 0
}

func (m *memory) answered(p prompt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.question, m.passedOnNothing = p.question, false
	m.reacted = p.addressShown() && len(p.fromMembers()) > 0 // the answer took them in
}

func (m *memory) spokeUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reacted, m.passedOnNothing = true, false
}

func (m *memory) passed(p prompt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.passedOnNothing = len(p.lines) == 0
}

// memories keeps a memory per conversation, the newest maxMemories or so.
type memories struct {
	mu  sync.Mutex
	all map[string]*memory
}

const maxMemories = 1000

func (ms *memories) of(conversation string) *memory {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if m := ms.all[conversation]; m != nil {
		return m
	}
	if ms.all == nil || len(ms.all) >= maxMemories {
		ms.all = make(map[string]*memory)
	}
	m := &memory{}
	ms.all[conversation] = m
	return m
}

// isSign recognises the row in which a demo agent says what it is.
func isSign(row string) bool { return strings.HasPrefix(row, "(I am a demo agent: ") }
