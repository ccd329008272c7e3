# Prints the lines of Go that are longer than 140 columns. The text of a string does not count, since a text that is broken cannot be found,
# nor do generated files and the markers of controller-gen.
FNR == 1 { generated = /^\/\/ Code generated/; raw = 0 }
generated || /^[ \t]*\/\/ \+kubebuilder:/ { next }
{
  line = $0
  if (raw) { # in a string that began on a line before
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
