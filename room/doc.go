// Package room is the policy of a room, as pure functions: who a message addresses, what
// a member is shown before it answers, how the rounds of a run follow each other, what
// counts as silence, what is written on the thread, and what the operator and the lead
// get to read.
//
// One address passes through it in this order: [Parse] finds the members, [NewAddress]
// makes the record, [NewRun] plans the rounds; for each member [ReadWindow] reads what it
// has missed, [Prompt] writes what it is sent, [Silent] judges the reply and [NewReply]
// records it; [Run.NextRound] goes on or ends, [NotesOf] and [Compose] make the
// operator's text. For the lead, [Envelope] says who spoke and [CastBlock] who is here.
//
// The rules are those of the rooms specification; comments name its sections (1
// addressing, 2 records, 3 catch-up, 4 rounds, 5 what the operator gets, 9 cast).
// Everything here treats names, texts and stamps as hostile: no text can pass for
// another author's line in a window or leave its envelope.
//
// # Concurrency
//
// All functions are pure and all types are plain values; nothing does I/O, reads a clock
// or starts a goroutine, but for [NewAddress] and [NewReply], which give a record its id
// and time.
package room
