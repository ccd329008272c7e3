package main

import "testing"

func TestRecording(t *testing.T) {
	const source = "const a = `-- name: Book :one\ninsert into t (id, at, due_at) values (recording_id($12), recording_time(), recording_time() + $3)\n`\n" +
		"const b = `-- name: Read :one\nselect now()\n`\n"
	got := recording(source)
	const want = "-- name: Book :one\ninsert into t (id, at, due_at) values ($12::uuid, now(), now() + $3)\n"
	if len(got) != 1 || got["Book"] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
