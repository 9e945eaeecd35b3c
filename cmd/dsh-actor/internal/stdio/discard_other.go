//go:build !linux && !darwin

package stdio

// Discard does nothing here: what was typed cannot be told from what is being typed.
func (in *Input) Discard() {}
