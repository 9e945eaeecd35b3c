package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxFileSize is the largest settings file that is read, in bytes.
const MaxFileSize = 16 << 20

// Options says which files to read. The zero value reads none.
type Options struct {
	// Home is the directory that holds .claude/settings.json of the user; "" is none.
	Home string
	// ProjectDir is the start directory, which holds .claude of the project. The
	// directories above it are not looked at. "" is none.
	ProjectDir string
	// Sources selects among [User], [Project] and [Local]; nil is all of them. The
	// flag layer always counts.
	Sources []Layer
	// Flag is the --settings argument: JSON text, or the name of a file (relative to
	// ProjectDir). "" is none.
	Flag string
	// CheckHooks judges the hooks value of one file, which this package does not
	// understand. Its problems become diagnostics, and one of them may drop the whole
	// file. Nil judges none. It must be a function of the value alone.
	CheckHooks func(hooks *Value) []Problem
	// FailClosed keeps the deny and ask rules of a file that is left out although it
	// is JSON, so that an error elsewhere in the file does not disarm them.
	FailClosed bool
}

// Problem is a finding of [Options.CheckHooks].
type Problem struct {
	Value    *Value // where
	Message  string
	Severity Severity
	// DropFile leaves the whole file out, env and permissions included.
	DropFile bool
}

// Snapshot is what the files held when they were read. It does not change.
type Snapshot struct {
	// Documents are the files that were looked at, from the least to the most
	// specific layer.
	Documents []Document
	// Diagnostics are what is wrong with them, in the same order.
	Diagnostics []Diagnostic
	// Effective is what those that count say together.
	Effective Effective

	stamps []stamp
}

// Read reads the settings files. It fails only for the --settings argument: an
// explicit request that cannot be met is the caller's to hear about, where a
// file that happens to lie in a directory is not.
func Read(o Options) (*Snapshot, error) {
	r := &reader{options: &o, snapshot: &Snapshot{}}
	for _, layer := range fileLayers {
		r.readLayer(layer)
	}
	if o.Flag != "" {
		if err := r.readFlag(); err != nil {
			return nil, err
		}
	}
	return r.snapshot, nil
}

// reader fills a snapshot.
type reader struct {
	options  *Options
	snapshot *Snapshot
}

func (r *reader) readLayer(layer Layer) {
	path := r.options.path(layer)
	if path == "" {
		return
	}
	d := Document{Layer: layer, File: path}
	if !r.options.selects(layer) {
		d.Status = Unselected
		r.add(d)
		return
	}
	data, st, err := readFile(path)
	same := r.seen(st)
	r.snapshot.stamps = append(r.snapshot.stamps, st)
	whole := Origin{File: path, Layer: layer}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Status = Absent
	case err != nil:
		d.Status = Ignored
		r.diagnose(whole.Diagnose(Error, "%s; the whole file is ignored", reason(err)))
	case same != "":
		d.Status = Duplicate
		r.diagnose(whole.Diagnose(Info, "this is the same file as %s; it is read once", same))
	default:
		r.take(&d, data)
	}
	r.add(d)
}

// readFlag reads the --settings argument.
func (r *reader) readFlag() error {
	d := Document{Layer: Flag, File: FlagName}
	data := []byte(r.options.Flag)
	if !flagIsText(r.options.Flag) {
		d.File = r.options.flagPath()
		var st stamp
		var err error
		data, st, err = readFile(d.File)
		r.snapshot.stamps = append(r.snapshot.stamps, st)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("settings file not found: %s", d.File)
		case err != nil:
			return fmt.Errorf("read settings file %s: %s", d.File, reason(err))
		}
	}
	before := len(r.snapshot.Diagnostics)
	r.take(&d, data)
	r.add(d)
	if d.Status == Loaded {
		return nil
	}
	for _, diag := range r.snapshot.Diagnostics[before:] {
		if diag.Severity == Error {
			return fmt.Errorf("settings argument: %s", diag)
		}
	}
	return fmt.Errorf("settings argument: %s cannot be used", d.File)
}

// take parses and checks a file's text, and merges what it says.
func (r *reader) take(d *Document, data []byte) {
	root, diags := parse(d.File, d.Layer, data)
	r.diagnose(diags...)
	if d.Root = root; root == nil {
		d.Status = Ignored
		return
	}
	f := interpret(root, r.options.CheckHooks)
	r.diagnose(f.diags...)
	if !f.dropped {
		d.Status = Loaded
		r.snapshot.Effective.merge(f)
		return
	}
	d.Status = Ignored
	lost := len(f.permissions.Deny) + len(f.permissions.Ask)
	switch whole := (Origin{File: d.File, Layer: d.Layer}); {
	case lost == 0:
	case r.options.FailClosed:
		r.snapshot.Effective.restrict(f)
		r.diagnose(whole.Diagnose(Warning, "the file is ignored, but its %d deny and ask rules stay in force", lost))
	default:
		r.diagnose(whole.Diagnose(Error, "the file is ignored, and so its %d deny and ask rules are not in force", lost))
	}
}

func (r *reader) add(d Document) { r.snapshot.Documents = append(r.snapshot.Documents, d) }
func (r *reader) diagnose(add ...Diagnostic) {
	r.snapshot.Diagnostics = append(r.snapshot.Diagnostics, add...)
}

// seen returns the path under which the file was read already.
func (r *reader) seen(st stamp) string {
	for i := range r.snapshot.stamps {
		if earlier := &r.snapshot.stamps[i]; st.info != nil && earlier.info != nil && os.SameFile(st.info, earlier.info) {
			return earlier.path
		}
	}
	return ""
}

func (o *Options) selects(layer Layer) bool {
	if o.Sources == nil {
		return true
	}
	for _, s := range o.Sources {
		if s == layer {
			return true
		}
	}
	return false
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = fmt.Errorf("larger than %d bytes", MaxFileSize)
)

// readFile reads a regular file and says which version of it was read. A file
// that is written to meanwhile is read again; if that does not help, the stamp is
// the one from before, so that the snapshot counts as outdated.
func readFile(path string) (data []byte, st stamp, err error) {
	const tries = 3
	for range tries {
		var again bool
		data, st, again, err = readOnce(path)
		if !again {
			break
		}
	}
	return data, st, err
}

func readOnce(path string) (data []byte, st stamp, again bool, err error) {
	st = stampOf(path)
	switch {
	case st.err != nil:
		return nil, st, false, st.err
	case !st.info.Mode().IsRegular():
		return nil, st, false, errNotRegular // opening a pipe would block
	case st.info.Size() > MaxFileSize:
		return nil, st, false, errTooLarge
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, st, false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err = io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	switch {
	case err != nil:
		return nil, st, false, err
	case len(data) > MaxFileSize:
		return nil, st, false, errTooLarge
	}
	return data, st, !st.same(stampOf(path)), nil
}

// reason is the text of an error without the path, which the diagnostic has.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Op + ": " + path.Err.Error()
	}
	return err.Error()
}
