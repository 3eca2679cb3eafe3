package parity

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/tools/data"
)

// TestFoldersThatHoldNothingAreNoDifference: a system makes some as it starts. What is gone,
// and what holds something, is one.
func TestFoldersThatHoldNothingAreNoDifference(t *testing.T) {
	want := data.Content{Files: 2, Folders: 3, Links: 1, Bytes: 10, SHA256: "a"}
	for name, c := range map[string]struct {
		has    data.Content
		result Result
		says   string
	}{
		"as it was":            {want, Match, "are those of the source."},
		"a folder more":        {data.Content{Files: 2, Folders: 4, Links: 1, Bytes: 10, SHA256: "a"}, Match, "It has one folder more, which holds nothing."},
		"without digests":      {data.Content{Files: 2, Folders: 4, Links: 1, Bytes: 10}, Match, "were not read. It has one folder more"},
		"a folder is gone":     {data.Content{Files: 2, Folders: 2, Links: 1, Bytes: 10, SHA256: "a"}, Differs, "5 files and folders, not 6"},
		"a folder with a file": {data.Content{Files: 3, Folders: 4, Links: 1, Bytes: 10, SHA256: "a"}, Differs, "8 files and folders, not 6"},
		"a folder for a file":  {data.Content{Files: 1, Folders: 4, Links: 1, Bytes: 10, SHA256: "a"}, Differs, "6 files and folders, not 6"},
		"with a link":          {data.Content{Files: 2, Folders: 4, Links: 2, Bytes: 10, SHA256: "a"}, Differs, "files and folders"},
		"with a socket":        {data.Content{Files: 2, Folders: 4, Links: 1, Others: 1, Bytes: 10, SHA256: "a"}, Differs, "files and folders"},
		"and contents are not": {data.Content{Files: 2, Folders: 4, Links: 1, Bytes: 10, SHA256: "b"}, Differs, "contents are not"},
		"and sizes are not":    {data.Content{Files: 2, Folders: 4, Links: 1, Bytes: 11, SHA256: "b"}, Differs, "11 bytes, not 10"},
		"nothing is there":     {data.Content{}, Differs, "0 files and folders, not 6"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			result, why := Place{Want: &want, Has: c.has}.compare()
			is.Equal(result, c.result)
			is.True(strings.Contains(why, c.says))
		})
	}
}
