package controllers

import (
	"strings"
	"testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/store"
)

// A deletion of very many rows is looked at again, and its message does not blame the database.
func TestDeletionThatGoesOnSaysSo(t *testing.T) {
	t.Parallel()
	err := deletionFailure(databaseFailure(store.ErrDeletionUnfinished))
	if !isWaiting(err) || reasonOf(err) != v1alpha1.ReasonDeleting || !strings.Contains(err.Error(), "goes on by itself") {
		t.Errorf("got %s: %v", reasonOf(err), err)
	}
}
