// Package hotreload is the configuration file, langgraph-config.yaml: parsed strictly,
// clamped, watched while the program runs, and saved so that one value changes and no
// other byte.
//
// One schema, as data, says what every key is ([Schema]): the parser, the clamps, [Set],
// [Config.Values] and docs/configuration.md come from it. The keys that an entry of the roster
// has by its type are those that the type was registered with ([setting.Register], which package
// setup does for the types of this module).
//
// [Parse] reads bytes. [Open] watches a file: a [Snapshot] is what one reading gave, and a
// turn takes [File.Current] once and keeps it. Bytes from which no configuration can be
// taken are a [File.Fault]; the last good snapshot stays. The file's folder is watched, so
// that saves by rename, by delete and create, and by a swap of links are seen; where the
// system has no events, or loses them, the file is looked at every half second. Bytes that
// look as if a save were still going on (empty, the beginning of the old text, much
// shorter, cut within a line, not YAML) are judged only after they have rested for 400 ms.
//
// [Set], [AddDelegate], [RemoveDelegate] and [Save] write. They patch the bytes of one
// node, read the result back and refuse it if anything else has changed.
//
// # Concurrency
//
// A [File] is safe for concurrent use and owns its goroutines; Close waits for them.
// Snapshots and configurations are shared and must not be changed. The writers may be
// called from any goroutine and any process: they take a lock on the file's folder and
// notice an editor's save.
package hotreload

//go:generate go test -run ^TestReference$ -update
