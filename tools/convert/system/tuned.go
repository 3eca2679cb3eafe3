package system

import (
	"strings"

	"svc/tools/convert"
)

// Tuned carries people's profiles to the folder where tuned 2.23 and later looks for them:
// before, each stood in /etc/tuned itself.
var Tuned = convert.Same(convert.Settings{Comment: "#", Equals: true}, func(_ convert.Input, file string) string {
	if strings.HasPrefix(file, "/etc/tuned/recommend.d/") {
		return file
	}
	return "/etc/tuned/profiles/" + strings.TrimPrefix(file, "/etc/tuned/")
})
