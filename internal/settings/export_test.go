package settings

// ReadText is Read of one project file with the given text, without a file
// system.
func ReadText(data []byte, o Options) *Snapshot {
	r := &reader{options: &o, snapshot: &Snapshot{}}
	d := Document{Layer: Project, File: "settings.json"}
	r.take(&d, data)
	r.add(d)
	return r.snapshot
}
