package exchange

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/room"
)

// Given are the images and files of the operator's message that the lead answers in this turn, for
// whom it asks about it.
func (t *Turn) Given(ctx context.Context) ([]langrooms.Part, error) {
	for m, err := range t.view().NewestFirst(ctx, parkedPage) {
		switch {
		case err != nil:
			return nil, err
		case m.Role == langrooms.RoleAI && !slices.ContainsFunc(m.Parts, isCall):
			return nil, nil // what an earlier turn came to
		case m.Role == langrooms.RoleHuman && (m.Stamp == nil || m.Stamp.From == langrooms.Operator):
			return slices.DeleteFunc(slices.Clone(m.Parts), func(p langrooms.Part) bool { return p.Kind == langrooms.PartText }), nil
		}
	}
	return nil, nil
}

func isCall(p langrooms.Part) bool { return p.Kind == langrooms.PartToolCall }

// files are the parts of the message that go to a member: once, to who keeps the conversation.
func (x *run) files(member string) []langrooms.Part {
	d, _ := x.room.Roster.Get(member)
	if x.plan.Round() > 1 && d.Info().Conversational {
		return nil
	}
	return slices.Concat(x.address.Said.Parts, x.address.Files)
}

// filesOf are the files among the parts of a message, as they go to a member. Of more than may go
// with one message the names alone do.
func filesOf(parts []langrooms.Part) []delegate.File {
	var files []delegate.File
	size := 0
	for _, p := range parts {
		p, ok := unfolded(p)
		if !ok {
			continue
		}
		f := delegate.File{Name: p.Name, MIMEType: p.MIMEType, Stead: room.FileStead(p)}
		switch {
		case len(files) >= langrooms.MaxFiles:
		case p.Kind == langrooms.PartImageURL:
			f.MIMEType, f.URL = "image/*", p.URL
		case len(p.Data) <= langrooms.MaxFile && size+len(p.Data) <= langrooms.MaxAllFiles:
			size += len(p.Data)
			f.Data = p.Data
		}
		files = append(files, f)
	}
	return files
}

// unfolded is a part as a file: an image in a data URL by its bytes, with the type that they show;
// ok is false for what is no file.
func unfolded(p langrooms.Part) (_ langrooms.Part, ok bool) {
	switch {
	case p.Kind == langrooms.PartBinary:
		return p, len(p.Data) > 0
	case p.Kind != langrooms.PartImageURL:
		return p, false
	}
	if rest, ok := strings.CutPrefix(p.URL, "data:"); ok {
		head, body, _ := strings.Cut(rest, ",")
		claimed, encoded := strings.CutSuffix(head, ";base64")
		data, err := base64.StdEncoding.DecodeString(body)
		if !encoded || err != nil {
			return p, false
		}
		file, err := langrooms.FilePart("image", claimed, data)
		return file, err == nil
	}
	return p, strings.HasPrefix(p.URL, "https://") || strings.HasPrefix(p.URL, "http://")
}
