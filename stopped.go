package langrooms

import "errors"

// Why the work under a context was ended: what a caller gives to context.CancelCauseFunc, so
// that the record says what happened. Without one of them, and without a deadline that has
// passed, it was the operator.
var (
	// ErrDisconnected: the client that waited for the answer went away.
	ErrDisconnected = errors.New("the client went away")
	// ErrShutdown: the program is ending.
	ErrShutdown = errors.New("the program ended")
)
