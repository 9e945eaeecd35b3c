//go:build race

package schema

// raceEnabled: the race detector makes sync.Pool drop items at random.
const raceEnabled = true
