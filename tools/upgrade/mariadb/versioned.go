package mariadb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"svc/tools/database"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/safefile"
)

// longTime is the version from which the end of time is 2106 and no longer 2038
// (MDEV-32188). In a table with system versioning rows that are current end then:
// until they are converted a newer server takes them for history, so what was there
// can't be compared with what is there afterwards.
const longTime database.Version = "11.5"

// refuseVersioned refuses tables with system versioning on their way over longTime.
func (m *Upgrade) refuseVersioned() error {
	if m.From.Version.Compare(longTime) >= 0 || m.To.Version.Compare(longTime) < 0 {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(m.Data, "*", "*.frm"))
	if err != nil {
		return err
	}
	var found []string
	for _, name := range names {
		head, _, err := engine.ReadAs(m.Account, name, maxDefinition)
		if err != nil && !errors.Is(err, safefile.ErrLong) {
			return fmt.Errorf("reading the definition of a table: %w", err)
		}
		if versioned(head) {
			found = append(found, filepath.Base(filepath.Dir(name))+"."+strings.TrimSuffix(filepath.Base(name), ".frm"))
		}
	}
	if found == nil {
		return nil
	}
	return engine.Refusef("dump them with the old server (mariadb-dump --update-history, of 11.5 or newer), drop them, and load them afterwards; or go to a version before 11.5",
		"%d tables have system versioning, such as %s: MariaDB %s takes their rows for history until it has converted them, so that none is lost can't be proved", len(found), strings.Join(found[:min(5, len(found))], ", "), m.To.Version)
}

// The definition of a table begins with a head, in which is how long the list of
// its further properties is that follows (sql/unireg.h, extra2_frm_value_type).
const (
	maxDefinition  = 64 << 10
	definitionHead = 64
	systemTime     = 4 // the property of a table with system versioning
)

// versioned reports whether a definition is of a table with system versioning.
func versioned(frm []byte) bool {
	if len(frm) < definitionHead || frm[0] != 0xfe || frm[1] != 1 {
		return false // of a view, which is text
	}
	list := frm[definitionHead:]
	list = list[:min(len(list), int(binary.LittleEndian.Uint16(frm[4:])))]
	for len(list) >= 2 {
		kind, length := list[0], int(list[1])
		list = list[2:]
		if length == 0 && len(list) >= 2 {
			length = int(binary.LittleEndian.Uint16(list))
			list = list[2:]
		}
		if kind == systemTime {
			return true
		}
		list = list[min(length, len(list)):]
	}
	return false
}
