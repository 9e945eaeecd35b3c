// Package view shows a session to a person at a terminal: text as it streams, a
// line for each tool call with its duration and outcome, and a spinner while
// somebody has to wait.
//
// It owns the look and nothing else: what it shows is what the session's events
// say. Text of models, tools and files never reaches the terminal as it is;
// control characters in it are made visible, so that it can neither move the
// cursor nor forge what the view shows.
//
// A View has one goroutine, which draws the spinner, from New to Close. Its
// methods are safe for concurrent use. Whatever is on the screen for a moment only
// is erased before anything that stays.
//
// It refuses to know sessions and runtimes, and it decides nothing.
package view
