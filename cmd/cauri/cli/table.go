package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Table is rows below their titles. What reads a pipe gets all of it. On a terminal it is as wide as that at most, so
// that no line wraps.
type Table struct {
	Titles string // with a space between two
	Rows   [][]string
	// Shorten are titles of columns whose texts end with an ellipsis where a terminal is too narrow, the first of them
	// first. Ids and amounts are never shortened.
	Shorten string
	// Drop are titles of columns that are left out where that is not enough, the first of them first.
	Drop string
	// Whole is the title of a column whose texts are printed once more below the table, as a whole, if they were
	// shortened.
	Whole string
}

const (
	tableGap  = 3
	narrowGap = 2 // where the table would be too wide
	ellipsis  = "…"
	leastText = 8  // what is left at least of a text that is shortened
	someText  = 16 // the same while there are columns that can be left out
)

// Print prints the table for a terminal of a width; 0: for a program.
func (t *Table) Print(out io.Writer, width int) {
	titles := strings.Fields(t.Titles)
	rows := append([][]string{titles}, t.Rows...)
	widths := make([]int, len(titles))
	for _, row := range rows {
		for i := range row {
			row[i] = Printable(row[i])
			if row[i] == "" {
				row[i] = "-"
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	natural := slices.Clone(widths)
	gap, dropped := t.fit(titles, widths, width)
	var cut []string
	whole := slices.Index(titles, t.Whole)
	for n, row := range rows {
		var line strings.Builder
		for i, text := range row {
			if widths[i] == 0 {
				continue
			}
			if widths[i] < natural[i] {
				text = shortened(text, widths[i])
			}
			if i == whole && text != row[i] && n > 0 {
				cut = append(cut, strings.Join(row[:i], " ")+": "+row[i])
			}
			line.WriteString(text + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+gap))
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
	for _, text := range cut {
		fmt.Fprintf(out, "\n%s\n", text)
	}
	if len(dropped) > 0 {
		fmt.Fprintf(out, "\n%s\n", shortened(fmt.Sprintf("A wider terminal shows %s too.", strings.Join(dropped, ", ")), width))
	}
}

// fit makes the columns as narrow as a terminal needs it, 0 for one that is left out, and returns the gap between them.
func (t *Table) fit(titles []string, widths []int, width int) (gap int, dropped []string) {
	if width == 0 || lineWidth(widths, tableGap) <= width {
		return tableGap, nil
	}
	var shorten []int // columns
	for _, title := range strings.Fields(t.Shorten) {
		if i := slices.Index(titles, title); i >= 0 {
			shorten = append(shorten, i)
		}
	}
	least := func(i, text int) int { return min(widths[i], max(text, len(titles[i]))) }
	for _, title := range strings.Fields(t.Drop) {
		narrow := slices.Clone(widths)
		for _, i := range shorten {
			narrow[i] = least(i, someText)
		}
		if lineWidth(narrow, narrowGap) <= width {
			break
		}
		if i := slices.Index(titles, title); i >= 0 {
			widths[i], dropped = 0, append(dropped, title)
		}
	}
	for _, text := range []int{someText, leastText} {
		for _, i := range shorten {
			if over := lineWidth(widths, narrowGap) - width; over > 0 {
				widths[i] = max(widths[i]-over, least(i, text))
			}
		}
	}
	if lineWidth(widths, tableGap) <= width {
		return tableGap, dropped
	}
	return narrowGap, dropped
}

// lineWidth returns the width of a line with columns of these widths.
func lineWidth(widths []int, gap int) (sum int) {
	for _, one := range widths {
		if one > 0 {
			sum += one + gap
		}
	}
	return max(0, sum-gap)
}

// shortened returns the beginning of a text, at most that many characters. It cuts a list between two of its parts.
func shortened(text string, most int) string {
	letters := []rune(text)
	if len(letters) <= most {
		return text
	}
	begin := string(letters[:max(0, most-1)])
	if i := strings.LastIndex(begin, ", "); i > 0 && most-i < most/2 {
		begin = begin[:i+1]
	}
	return strings.TrimRight(begin, " ") + ellipsis
}

// table prints a table.
func table(out io.Writer, t Table) { t.Print(out, Width(out)) }

// Width returns the width of the terminal that out is, and 0 if out is not a terminal.
func Width(out io.Writer) int {
	switch out := out.(type) {
	case interface{ Width() int }:
		return out.Width()
	case *os.File:
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Colored reports whether somebody reads what is written there, and colors are welcome.
func Colored(out io.Writer) bool {
	return terminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminal reports whether somebody reads what is written there.
func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
