//go:build !unix

package stdio

import (
	"context"
	"sync"
)

// pump reads ahead, because a read that blocks cannot be given up here.
type pump struct {
	start sync.Once
	next  chan piece
	rest  piece
}

type piece struct {
	data []byte
	err  error
}

func (in *Input) begin() {
	in.pump.start.Do(func() {
		in.pump.next = make(chan piece)
		go func() {
			for {
				b := make([]byte, 64<<10)
				n, err := in.file.Read(b)
				in.pump.next <- piece{b[:n], err}
				if err != nil {
					return
				}
			}
		}()
	})
}

func (in *Input) read(ctx context.Context, p []byte) (int, error) {
	if !in.ready(ctx) {
		return 0, context.Cause(ctx)
	}
	rest := &in.pump.rest
	n := copy(p, rest.data)
	rest.data = rest.data[n:]
	if n > 0 {
		return n, nil
	}
	return 0, rest.err
}

func (in *Input) ready(ctx context.Context) bool {
	in.begin()
	rest := &in.pump.rest
	for len(rest.data) == 0 && rest.err == nil {
		select {
		case *rest = <-in.pump.next:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
