package checkpointer

// Metadata is what is known of a checkpoint beside its state. Its values are JSON: nil,
// bool, string, every kind of integer and float, json.Number, json.RawMessage, []any,
// []string, map[string]any and Metadata; another type, a number that is not finite and
// invalid UTF-8 are ErrInvalid. Read back, a number is a json.Number, a list []any and an
// object map[string]any.
//
// Values are equal when they are the same JSON: 1, 1.0 and 1e0 are one number, "1" and
// true are none, the order of an object's keys does not matter.
type Metadata map[string]any
