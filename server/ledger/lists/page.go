package lists

// Page returns the rows of a page of at most limit rows, in the rows that a list found with limit+1 as its limit. The
// parameter after says that the page follows a row, and before that it ends before one. Page also reports whether the
// list has newer and older rows beside the page.
func Page[T any](found []T, limit int, after, before bool) (rows []T, newer, older bool) {
	more := len(found) > limit
	if before {
		return found[max(0, len(found)-limit):], more, len(found) > 0
	}
	return found[:min(len(found), limit)], after && len(found) > 0, more
}
