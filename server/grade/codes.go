package grade

import "strings"

// CodeOf returns the code of the cause of a line that failed, for the table of causes.
func CodeOf(line string) string { return "grade." + strings.ReplaceAll(line, "-", "_") }
