// Package consent holds what members ask a person's leave for while a turn runs, until
// somebody answers: several people may see a question, and the first answer counts.
//
// A question is told to the turn's sink (langrooms.EventQuestion), and so is what became of it
// (langrooms.EventAnswered). Nothing is stored: a question ends with the turn that it came up in.
//
// # Concurrency
//
// A [Desk] is safe for concurrent use and has no goroutines.
package consent
