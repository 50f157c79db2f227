package checkpointer

import "errors"

// maxTries bounds how often a change gives way to other writers.
const maxTries = 50

// GiveWay makes a change that is derived from what is newest: change reads that and puts a
// step after it, and is called again as long as another writer was first ([ErrConflict]), up
// to 50 times. It returns what change returned last.
func GiveWay(change func() error) error {
	for try := 1; ; try++ {
		if err := change(); !errors.Is(err, ErrConflict) || try == maxTries {
			return err
		}
	}
}
