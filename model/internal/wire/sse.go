package wire

import (
	"bytes"
	"errors"
	"io"
)

// errTooLong is the error of a line or an event beyond the limit.
var errTooLong = errors.New("an event is longer than the limit")

const readSize = 8 << 10

// eventReader reads server-sent events as the HTML standard defines them: lines
// end in LF, CR or CRLF, a byte order mark at the start is skipped, lines that
// begin with a colon are comments, the data lines of an event are joined by LF,
// and an event that is not closed by an empty line is dropped.
//
// An event is handed out as soon as its empty line has arrived: a CR at the end
// of what was read is taken as the line's end, and an LF that follows is skipped.
type eventReader struct {
	src io.Reader
	max int // most bytes of one event's lines

	buf        []byte
	start, end int // the unread bytes of buf
	scanned    int // how many of them hold no line end
	skipLF     bool
	begun      bool // the byte order mark was looked for
	srcErr     error

	size    int // bytes of the event under way
	name    []byte
	data    []byte
	hasData bool
}

func newEventReader(src io.Reader, limit int) *eventReader {
	return &eventReader{src: src, max: limit, buf: make([]byte, readSize)}
}

// next returns the next event that has data. The slices are valid until the next
// call. At the end of the stream the error is io.EOF.
func (r *eventReader) next() (name, data []byte, err error) {
	r.name, r.data, r.hasData, r.size = r.name[:0], r.data[:0], false, 0
	for {
		line, err := r.line()
		if err != nil {
			return nil, nil, err
		}
		if len(line) == 0 {
			if r.hasData {
				return r.name, r.data, nil
			}
			r.name, r.size = r.name[:0], 0
			continue
		}
		if r.size += len(line); r.size > r.max {
			return nil, nil, errTooLong
		}
		r.field(line)
	}
}

// field takes one line of an event. Other fields than these have no meaning here.
func (r *eventReader) field(line []byte) {
	field, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.hasData = true
		r.data = append(r.data, value...)
	case "event":
		r.name = append(r.name[:0], value...)
	}
}

// line returns the next line without its end. It is valid until the next call.
func (r *eventReader) line() ([]byte, error) {
	for {
		if r.skipLF && r.start < r.end {
			r.skipLF = false
			if r.buf[r.start] == '\n' {
				r.start++
			}
		}
		unread := r.buf[r.start:r.end]
		if !r.begun && !r.skipMark(unread) {
			if err := r.fill(); err == nil {
				continue
			}
			r.begun = true // what is there is all there will be
		}
		unread = r.buf[r.start:r.end]
		if i := lineEnd(unread[r.scanned:]); i >= 0 {
			i += r.scanned
			r.skipLF = unread[i] == '\r'
			r.start += i + 1
			r.scanned = 0
			return unread[:i], nil
		}
		r.scanned = len(unread)
		if len(unread) > r.max {
			return nil, errTooLong
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// lineEnd returns the offset of the first LF or CR, or -1.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return i
}

// skipMark steps over a byte order mark at the start of the stream. It reports
// false while there are too few bytes to tell.
func (r *eventReader) skipMark(unread []byte) bool {
	const mark = "\xef\xbb\xbf"
	if len(unread) < len(mark) && string(unread) == mark[:len(unread)] {
		return false
	}
	if bytes.HasPrefix(unread, []byte(mark)) {
		r.start += len(mark)
	}
	r.begun = true
	return true
}

// fill reads more bytes, making room for them first.
func (r *eventReader) fill() error {
	if r.srcErr != nil {
		return r.srcErr
	}
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	// A reader may return nothing and no error, but not for ever.
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.srcErr = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.srcErr = io.ErrNoProgress
	return r.srcErr
}
