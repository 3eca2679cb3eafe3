package data

import (
	"fmt"
	"time"
)

// Size is a number of bytes for people.
func Size(n int64) string {
	size, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; size >= 1024 && i < len(units)-1; i++ {
		size /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, units[i])
}

// About is an estimate in seconds for people.
func About(seconds int64) string {
	if seconds == 0 {
		return "less than a second"
	}
	return "about " + (time.Duration(seconds) * time.Second).String()
}
