//go:build !linux

// Package sandbox boots a root apart from the machine that it is on, which Linux
// alone can.
package sandbox

// Stage does nothing: there are no sandboxes here.
func Stage() {}
