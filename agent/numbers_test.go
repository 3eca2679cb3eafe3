package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/tools"
	"svc/tools/guide"
)

// TestTheGuideHasTheNumbersOfAgents holds what the guide says of waiting and keeping
// against the code of it.
func TestTheGuideHasTheNumbersOfAgents(t *testing.T) {
	is := is.New(t)
	is.Equal(keeping, 10*time.Minute) // in words in the guide
	is.Equal(maxAge, 7*24*time.Hour)
	for passage, words := range map[string]string{
		"long-calls":  fmt.Sprintf("After %.0f seconds", attention.Seconds()),
		"cut-results": "for a week",
	} {
		p, ok := guide.Find(passage)
		is.True(ok)
		is.True(strings.Contains(p.Text, words))
	}
	p, _ := guide.Find("long-calls")
	is.True(strings.Contains(p.Text, "within ten minutes"))
}

// TestTheGuideNamesEveryTool holds the passage of the tools against their list.
func TestTheGuideNamesEveryTool(t *testing.T) {
	is := is.New(t)
	p, ok := guide.Find("tools")
	is.True(ok)
	for _, tool := range tools.All() {
		is.True(strings.Contains(p.Text, tool.Name))
	}
}
