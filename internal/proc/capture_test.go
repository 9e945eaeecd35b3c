package proc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// feedCapture has data read in the given pieces, as a stream would.
func feedCapture(k *capture, data []byte, piece func() int) {
	for len(data) > 0 {
		space := k.space()
		n := copy(space[:min(len(space), max(1, piece()))], data)
		k.took(space, n)
		data = data[n:]
	}
}

// the head or the tail is kept, whatever the sizes of the reads, and the
// loss is counted; the tee sees everything.
func TestCaptureKeepsOneEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "data")
		limit := rapid.SampledFrom([]int{-1, 1, 7, 1023, 1024, 1025, 3000}).Draw(t, "limit")
		keep := rapid.SampledFrom([]Keep{KeepHead, KeepTail}).Draw(t, "keep")
		var tee bytes.Buffer
		k := newCapture(&Capture{Limit: limit, Keep: keep, Tee: &tee})
		feedCapture(&k, data, func() int { return rapid.IntRange(1, 4000).Draw(t, "read") })

		n := min(len(data), max(limit, 0))
		want := data[:n]
		if keep == KeepTail {
			want = data[len(data)-n:]
		}
		got := k.captured()
		if !bytes.Equal(got.Data, want) {
			t.Fatalf("kept %q, want %q", got.Data, want)
		}
		if got.Total != int64(len(data)) || got.Lost() != int64(len(data)-n) || got.Truncated != (n < len(data)) {
			t.Fatalf("total %d, lost %d, truncated %v of %d bytes", got.Total, got.Lost(), got.Truncated, len(data))
		}
		if !bytes.Equal(tee.Bytes(), data) {
			t.Fatalf("the tee got %d bytes of %d", tee.Len(), len(data))
		}
	})
}

func TestCaptureDefaultLimit(t *testing.T) {
	k := newCapture(&Capture{})
	feedCapture(&k, make([]byte, DefaultLimit+1), func() int { return 1 << 20 })
	if c := k.captured(); len(c.Data) != DefaultLimit || c.Lost() != 1 {
		t.Errorf("kept %d, lost %d", len(c.Data), c.Lost())
	}
}

// A small output must not cost the whole limit.
func TestCaptureGrowsWithTheOutput(t *testing.T) {
	k := newCapture(&Capture{Limit: 1 << 20})
	feedCapture(&k, []byte("hello"), func() int { return 5 })
	if cap(k.buf) > 2*firstRead {
		t.Errorf("5 bytes take %d", cap(k.buf))
	}
}

func TestTeeErrorEndsTheTeeOnly(t *testing.T) {
	w := &failingWriter{after: 1}
	k := newCapture(&Capture{Tee: w})
	feedCapture(&k, []byte("abc"), func() int { return 1 })
	if c := k.captured(); string(c.Data) != "abc" || w.calls != 2 {
		t.Errorf("kept %q, tee was called %d times", c.Data, w.calls)
	}
}

type failingWriter struct{ after, calls int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.calls++; w.calls > w.after {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// the whole stream is in a private file if it does not fit, up to the
// limit of the file.
func TestSpill(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 20)
	for _, tc := range []struct {
		name  string
		limit int // of the capture
		spill int64
		file  bool
		err   error
	}{
		{name: "fits", limit: 200, spill: 1000},
		{name: "does not fit", limit: 199, spill: 1000, file: true},
		{name: "just fits the file", limit: 10, spill: 200, file: true},
		{name: "too long for the file", limit: 10, spill: 199, err: errSpillLimit},
		{name: "default limit", limit: 10, spill: 0, file: true},
		{name: "nothing is kept", limit: -1, spill: 1000, file: true},
	} {
		for _, keep := range []Keep{KeepHead, KeepTail} {
			t.Run(tc.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "a", "b")
				k := newCapture(&Capture{Limit: tc.limit, Keep: keep, Spill: Spill{Dir: dir, Limit: tc.spill, Prefix: "out-"}})
				feedCapture(&k, data, func() int { return 7 })
				c := k.captured()
				if !errors.Is(c.SpillErr, tc.err) || (c.SpillPath != "") != tc.file {
					t.Fatalf("path %q, error %v", c.SpillPath, c.SpillErr)
				}
				files, _ := os.ReadDir(dir)
				if !tc.file {
					if len(files) != 0 {
						t.Errorf("there is %s", files[0].Name())
					}
					return
				}
				got, err := os.ReadFile(c.SpillPath)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("the file holds %q, %v", got, err)
				}
				if base := filepath.Base(c.SpillPath); !strings.HasPrefix(base, "out-") {
					t.Errorf("the file is named %q", base)
				}
				if runtime.GOOS == "windows" {
					return
				}
				for path, want := range map[string]os.FileMode{c.SpillPath: 0o600, dir: 0o700} {
					if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
						t.Errorf("mode of %s: %v, %v; want %v", path, info.Mode(), err, want)
					}
				}
			})
		}
	}
}

func TestSpillRefusesAnOpenDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	k := newCapture(&Capture{Limit: 1, Spill: Spill{Dir: dir}})
	feedCapture(&k, []byte("abc"), func() int { return 1 })
	c := k.captured()
	if c.SpillErr == nil || c.SpillPath != "" || string(c.Data) != "a" || c.Total != 3 {
		t.Errorf("%+v", c)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("there is %s", files[0].Name())
	}
}

func BenchmarkCaptureTail(b *testing.B) {
	b.ReportAllocs()
	chunk := make([]byte, 32<<10)
	k := newCapture(&Capture{Keep: KeepTail})
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		space := k.space()
		k.took(space, copy(space, chunk))
	}
}
