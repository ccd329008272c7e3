package shop_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
)

// TestRecipe runs the tests of the shop against the sandbox of the recipe.
func TestRecipe(t *testing.T) {
	uri, err := startCauri(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	shop := exec.Command("go", "test", "-count=1", "./...")
	shop.Dir = os.Getenv("CAURI_TEST_SHOP")
	shop.Env = append(shop.Environ(), "CAURI_URI="+uri, "CAURI_API_KEY="+apiKey, "CAURI_WEBHOOK_SECRET="+webhookSecret)
	if out, err := shop.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
