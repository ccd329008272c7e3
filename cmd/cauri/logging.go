package main

import (
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

func setUpLogging(format, level string) error {
	var at slog.Level
	// Levels below debug are refused, because on these levels the Kubernetes client logs the Secrets that it sends.
	if err := at.UnmarshalText([]byte(level)); err != nil || at < slog.LevelDebug {
		return cli.Usage(fmt.Errorf("--log-level=%s: write debug, info, warn or error", level))
	}
	options := &slog.HandlerOptions{Level: at}
	if format == "auto" {
		format = formatFor(os.Stderr)
	}
	switch format {
	case "text":
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, options)))
	case "json":
		slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, options)))
	default:
		return cli.Usage(fmt.Errorf("--log-format=%s: write text, json or auto", format))
	}
	return nil
}

// formatFor returns the log format "text" for a terminal; otherwise "json", for log collectors.
func formatFor(out *os.File) string {
	if term.IsTerminal(int(out.Fd())) {
		return "text"
	}
	return "json"
}
