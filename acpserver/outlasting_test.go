package acpserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What follows a prompt goes on for a bound after the client has gone, and no longer.
func TestOutlasting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		whole, over := outlasting(ctx, time.Minute)
		began := time.Now()
		leave()
		<-whole.Done()
		if lasted := time.Since(began); lasted != time.Minute {
			t.Errorf("it lasted %v", lasted)
		}
		over()
		kept, give := outlasting(t.Context(), time.Minute)
		if give(); kept.Err() == nil {
			t.Error("it goes on when it is given up")
		}
	})
}
