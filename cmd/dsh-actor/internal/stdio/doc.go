// Package stdio is what the command knows about its standard streams: whether they
// are terminals and what these can do, and reads of standard input that end when
// their context does.
//
// On unix a read waits for input or for its context and takes nothing that it was
// not asked for: no goroutine, and no byte, is left behind by a read that was given
// up. On other systems one goroutine reads ahead, from the first read to the end of
// the process: a blocked read cannot be ended there.
package stdio
