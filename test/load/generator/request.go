package generator

import "strconv"

// Head is the constant beginning of a request, before its length. A key may be empty.
func Head(method, path, key string) string {
	head := method + " " + path + " HTTP/1.1\r\nHost: bench\r\n"
	if key != "" {
		head += "Authorization: Bearer " + key + "\r\n"
	}
	return head
}

// End appends the end of a request that has no body.
func End(buffer []byte) []byte { return append(buffer, "\r\n"...) }

// JSON appends the end of a request, with a JSON body.
func JSON(buffer, body []byte) []byte {
	buffer = append(buffer, "Content-Type: application/json\r\nContent-Length: "...)
	buffer = strconv.AppendInt(buffer, int64(len(body)), 10)
	buffer = append(buffer, "\r\n\r\n"...)
	return append(buffer, body...)
}
