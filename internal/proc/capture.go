package proc

import (
	"errors"
	"io"
	"slices"
)

// capture keeps a bounded part of a stream. It is used by the stream's reader
// alone until the reader says that it is settled.
type capture struct {
	limit int
	keep  Keep
	tee   io.Writer
	spill *spill // nil if nothing is spilled

	buf     []byte
	next    int    // KeepTail, once buf is full: where the oldest byte is
	scratch []byte // read into once buf is full
	total   int64
}

const (
	firstRead = 1 << 10 // most hooks answer with less
	readSize  = 32 << 10
)

func newCapture(c *Capture) capture {
	k := capture{limit: c.limit(), keep: c.Keep, tee: c.Tee}
	if c.Spill.Dir != "" {
		k.spill = &spill{Spill: c.Spill}
	}
	return k
}

// space returns room for the next read: in the buffer while it is not full, so
// that a small output is not copied, and aside of it afterwards.
func (k *capture) space() []byte {
	if free := k.limit - len(k.buf); free > 0 {
		if len(k.buf) == cap(k.buf) {
			grow := min(max(cap(k.buf), firstRead), free)
			k.buf = slices.Grow(k.buf, grow)
		}
		return k.buf[len(k.buf):min(cap(k.buf), k.limit)]
	}
	if k.scratch == nil {
		k.scratch = make([]byte, readSize)
	}
	return k.scratch
}

// took records that n bytes were read into the last space.
func (k *capture) took(space []byte, n int) {
	if n <= 0 {
		return
	}
	data := space[:n]
	fits := k.limit > len(k.buf)
	if !fits {
		k.spill.write(k.ordered, data)
	}
	k.total += int64(n)
	if k.tee != nil {
		if _, err := k.tee.Write(data); err != nil {
			k.tee = nil
		}
	}
	switch {
	case fits: // data is where it belongs
		k.buf = k.buf[:len(k.buf)+n]
	case k.keep == KeepTail && k.limit > 0:
		k.wrap(data)
	}
}

// wrap overwrites the oldest bytes of the full buffer.
func (k *capture) wrap(data []byte) {
	if len(data) > k.limit {
		data = data[len(data)-k.limit:]
	}
	n := copy(k.buf[k.next:], data)
	copy(k.buf, data[n:])
	k.next = (k.next + len(data)) % k.limit
}

// ordered returns the kept bytes from the oldest to the newest.
func (k *capture) ordered() []byte {
	if k.next == 0 {
		return k.buf
	}
	return slices.Concat(k.buf[k.next:], k.buf[:k.next])
}

// captured ends the capture.
func (k *capture) captured() Captured {
	c := Captured{Data: k.ordered(), Total: k.total}
	c.Truncated = c.Lost() > 0
	c.SpillPath, c.SpillErr = k.spill.close()
	return c
}

// errSpillLimit is why a stream that is too long has no file.
var errSpillLimit = errors.New("the stream is longer than is spilled")
