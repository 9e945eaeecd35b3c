// Package flat is the short way for small JSON: a check of lossless text, and a
// decoder and an encoder for structs whose fields are strings, booleans and
// numbers, as most tool arguments and results are.
//
// It owns speed only. Everything it says yes to, the long way (packages json and
// schema, messages.CheckJSON) says yes to as well, with the same outcome; whatever
// is unusual it declines, and the caller goes the long way, which also has the
// words for what is wrong. Nothing here ever decides that something is invalid.
//
// Tests compare both ways on random types, values and texts.
package flat
