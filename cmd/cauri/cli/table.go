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

// Table is a table with titles. On a terminal, its columns are shortened or dropped so that no line wraps. Otherwise it
// is printed in full.
type Table struct {
	Titles string // separated by spaces
	Rows   [][]string
	// Shorten has the titles of the columns that are shortened with an ellipsis on a narrow terminal, in this order. It
	// must not contain columns with ids or amounts.
	Shorten string
	// Drop has the titles of the columns that are dropped if shortening is not enough, in this order.
	Drop string
	// Whole is the title of a column whose shortened texts are printed in full below the table.
	Whole string
}

const (
	tableGap  = 3
	narrowGap = 2 // used if the table is too wide
	ellipsis  = "…"
	leastText = 8  // minimum width of a shortened column
	someText  = 16 // minimum width of a shortened column before columns are dropped
)

// Print prints the table for a terminal of this width. With width 0, it prints the table in full.
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
		Fprintf(out, "%s\n", strings.TrimRight(line.String(), " "))
	}
	for _, text := range cut {
		Fprintf(out, "\n%s\n", text)
	}
	if len(dropped) > 0 {
		Fprintf(out, "\n%s\n", shortened(fmt.Sprintf("A wider terminal shows %s too.", strings.Join(dropped, ", ")), width))
	}
}

// fit reduces widths for a terminal of this width. A dropped column gets the width 0. fit returns the gap between
// columns and the titles of the dropped columns.
func (t *Table) fit(titles []string, widths []int, width int) (gap int, dropped []string) {
	if width == 0 || lineWidth(widths, tableGap) <= width {
		return tableGap, nil
	}
	var shorten []int // indexes of columns
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

// shortened returns the beginning of a text. The parameter most is the maximum number of characters. If the text is a
// list, shortened cuts it between two items.
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

// Width returns the width of the terminal out; 0 if out is not a terminal.
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

// Colored reports whether out is a terminal and colors are allowed.
func Colored(out io.Writer) bool {
	return terminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminal reports whether out is a terminal.
func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
