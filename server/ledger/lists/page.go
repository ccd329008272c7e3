package lists

// Page returns the rows of a page, at most limit. The parameter found has the rows that a list found with the limit
// limit+1. The parameter after is true if the page begins after a row, and before is true if it ends before a row.
// newer and older report whether the list has rows on that side of the page.
func Page[T any](found []T, limit int, after, before bool) (rows []T, newer, older bool) {
	more := len(found) > limit
	if before {
		return found[max(0, len(found)-limit):], more, len(found) > 0
	}
	return found[:min(len(found), limit)], after && len(found) > 0, more
}
