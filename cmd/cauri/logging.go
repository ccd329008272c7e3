package main

import (
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/term"
)

func setUpLogging(format, level string) error {
	var at slog.Level
	// On levels below debug, the Kubernetes client logs the Secrets that it sends.
	if err := at.UnmarshalText([]byte(level)); err != nil || at < slog.LevelDebug {
		return fmt.Errorf("--log-level=%s: write debug, info, warn or error", level)
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
		return fmt.Errorf("--log-format=%s: write text, json or auto", format)
	}
	return nil
}

// formatFor returns "text" for a terminal, and "json" otherwise, for log collectors.
func formatFor(out *os.File) string {
	if term.IsTerminal(int(out.Fd())) {
		return "text"
	}
	return "json"
}
