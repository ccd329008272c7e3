package host

import (
	"path/filepath"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestCheckSystem(t *testing.T) {
	t.Parallel()
	if err := checkSystemNamed("linux", "a node", ""); err != nil {
		t.Error(err)
	}
	testkit.WantAdvice(t, checkSystemNamed("darwin", "a node", "use Docker"), "a node needs Linux", "darwin", "Linux VM", "WSL2", "use Docker")
}

func TestEnoughSpace(t *testing.T) {
	t.Parallel()
	if err := enoughSpace(500*Mebibyte, 500*Mebibyte, "/x", "tests", "free some"); err != nil {
		t.Error(err)
	}
	testkit.WantAdvice(t, enoughSpace(499*Mebibyte, 500*Mebibyte, "/x", "tests", "free some"), "tests", "499 MB", "/x", "500 MB", "free some")
}

func TestCheckSpaceOfAFolderToBeMade(t *testing.T) {
	t.Parallel()
	if err := CheckSpace(filepath.Join(t.TempDir(), "not", "yet"), 1, "tests", ""); err != nil {
		t.Error(err)
	}
}
