package inspect

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// lines are n lines made by a format with a number.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// isUnknown reports whether the assessment says that it could not read something.
func isUnknown(a *assess.Assessment, what string) bool {
	return slices.ContainsFunc(a.Sources, func(s assess.Source) bool {
		return s.What == what && (s.State == assess.SourceUnreadable || s.State == assess.SourceCorrupt)
	})
}

func TestListsThatNoRealMachineHasAreCutAndSaidSo(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{
		"etc/passwd":      lines(assess.MaxLines, "user%d:x:2000:2000:"+strings.Repeat("x", 40)+":/home/a:/bin/bash"),
		"etc/crontab":     lines(assess.MaxLines, "* * * * * root command-number-%d --of-a-machine"),
		"etc/sysctl.conf": lines(assess.MaxLines, "net.ipv4.conf.interface%d.forwarding = 1"),
		"etc/fstab":       lines(assess.MaxLines, "/dev/sdx /mnt/%d ext4 defaults 0 0"),
	}))
	size := 0
	for v, i := reflect.ValueOf(a).Elem(), 0; i < v.NumField(); i++ {
		if v.Field(i).Kind() == reflect.Slice {
			size += assess.Weigh(v.Field(i), false)
		}
	}
	is.True(size < assess.MaxKept+1<<20)
	is.True(len(a.Users) > 0)
	is.True(!isUnknown(a, "assessment.users")) // there was room for all
	is.True(isUnknown(a, "assessment.sysctl"))
	is.True(len(a.Sysctl) < assess.MaxLines)
	is.True(slices.ContainsFunc(a.Findings, func(f assess.Finding) bool { return f.Key == "assessment.cut" && f.Inhibitor }))
}

// TestOneLongListLeavesRoom: of a machine with far too many jobs, what it mounts and sets
// is known still.
func TestOneLongListLeavesRoom(t *testing.T) {
	is := is.New(t)
	jobs := lines(assess.MaxLines, "* * * * * root command-number-%d "+strings.Repeat("x", 40))
	a := mustAssess(t, newMachine(t, map[string]string{
		"etc/crontab":     jobs,
		"etc/cron.d/more": jobs,
		"etc/cron.d/most": jobs,
		"etc/sysctl.conf": "vm.swappiness = 1\n",
		"etc/fstab":       "/dev/sdx /mnt ext4 defaults 0 0\n",
	}))
	is.True(isUnknown(a, "assessment.cron"))
	is.Equal(len(a.Sysctl), 1)
	is.Equal(len(a.Mounts), 1)
	i := slices.IndexFunc(a.Findings, func(f assess.Finding) bool { return f.Key == "assessment.cut" })
	is.True(i >= 0 && strings.Contains(a.Findings[i].Summary, " of cron"))
}

func TestAFileOfMoreLinesThanAnyRealOneIsNotRead(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"etc/passwd": lines(assess.MaxLines+1, "user%d:x:2000:2000::/home/a:/bin/bash")}))
	is.True(isUnknown(a, "accounts.passwd"))
	is.Equal(len(a.Users), 0)
}

func TestADocumentWithATreeTooLargeIsNotDecoded(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"etc/netplan/a.yaml": "network:\n  ethernets:\n" + lines(10_000, "    e%d: {dhcp4: true}")}))
	is.True(isUnknown(a, "network.a.yaml"))
	is.Equal(len(a.Networks), 0)
}
