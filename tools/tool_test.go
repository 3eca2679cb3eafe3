package tools

import "testing"

// BenchmarkAll is what a server does before its first answer.
func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		All()
	}
}
