package settings

// Status says what became of one file.
type Status string

// Statuses of a document.
const (
	Loaded     Status = "loaded"
	Absent     Status = "absent"     // there is no such file
	Unselected Status = "unselected" // its layer is not among the sources
	Duplicate  Status = "duplicate"  // the same file as that of an earlier layer
	Ignored    Status = "ignored"    // unreadable, malformed or of the wrong shape
)

// Document is one file that was looked at, whether or not it counts.
type Document struct {
	Layer  Layer
	File   string
	Status Status
	// Root is the file's value: of every loaded file, and of an ignored one that is
	// JSON. Keys that this package does not know are here, raw.
	Root *Value
}
