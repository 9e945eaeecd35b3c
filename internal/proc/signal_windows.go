package proc

// SignalName is the name of the signal that ended the process: there are none on
// Windows.
func (o *Outcome) SignalName() string { return "" }
