# Prints the lines of Go code with more than 140 columns. It ignores the texts of strings, because a text over several lines
# cannot be found by grep. It also ignores generated files and the markers of controller-gen.
FNR == 1 { generated = /^\/\/ Code generated/; raw = 0 }
generated || /^[ \t]*\/\/ \+kubebuilder:/ { next }
{
  line = $0
  if (raw) { # in a raw string that began on an earlier line
    if (!(end = index(line, "`"))) next
    line = substr(line, end + 1)
    raw = 0
  }
  gsub(/"([^"\\]|\\.)*"|`[^`]*`|'`'/, "\"\"", line)
  code = line
  sub(/\/\/.*/, "", code)
  if (begin = index(code, "`")) {
    raw = 1
    line = substr(line, 1, begin)
  }
  if (length(line) > 140) { print FILENAME ":" FNR ": " length(line) " columns, at most 140"; found = 1 }
}
END { exit found }
