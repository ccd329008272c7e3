// Command plot draws the charts of a file of figures as SVG, one file each.
//
//	go run ./test/load/plot -in bin/bench.json -out docs/performance
//
// The file is any JSON object with a list "charts". Package chart defines its format.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cauri-dev/cauri/test/load/chart"
)

func main() {
	in := flag.String("in", "bin/bench.json", "file with the figures")
	out := flag.String("out", "docs/performance", "folder for the pictures")
	flag.Parse()
	if err := plot(*in, *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// plot draws every chart of a file into a folder.
func plot(in, out string, stdout io.Writer) error {
	content, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var figures struct {
		Charts []chart.Chart `json:"charts"`
	}
	if err := json.Unmarshal(content, &figures); err != nil {
		return fmt.Errorf("reading %s: %w", in, err)
	}
	if len(figures.Charts) == 0 {
		return errors.New(in + " has no charts")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, c := range figures.Charts {
		picture, err := c.SVG()
		if err != nil {
			return err
		}
		file := filepath.Join(out, c.Name+".svg")
		if err := os.WriteFile(file, []byte(picture), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(stdout, file)
	}
	return nil
}
