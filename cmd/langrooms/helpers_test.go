package main

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"
)

// lockDatabase holds a SQLite database for itself until unlock.
func lockDatabase(t testing.TB, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	return func() { db.Close() }
}
