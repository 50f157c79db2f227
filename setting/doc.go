// Package setting is the vocabulary of the configuration file: what one key is ([Field]), what
// its value may be beside the types of the language ([Secret], [MCPServer]), and which keys an
// entry of the roster has by its type ([Register]). The file itself is package hotreload's,
// which reads, checks, shows, edits and describes each key by its Field.
//
// A protocol describes its own keys:
//
//	type Settings struct{ Host string }
//
//	func Fields() []setting.Of[Settings] {
//		return []setting.Of[Settings]{
//			{Field: setting.Field{Key: "host", Kind: setting.Text, Required: true, Help: "The host."},
//				At: func(s *Settings) any { return &s.Host }},
//		}
//	}
//
// # Concurrency
//
// All functions are safe for concurrent use. A value that was handed out is shared and must
// not be changed.
package setting
