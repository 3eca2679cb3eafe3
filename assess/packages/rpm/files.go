package rpm

import (
	"crypto"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Flags say what a file is to its package; the numbers are rpm's.
type Flags uint32

// The flags of files.
const (
	Config    Flags = 1 << 0
	MissingOK Flags = 1 << 3 // need not be there
	Ghost     Flags = 1 << 6 // named, not shipped: its content is the machine's
)

// Verify says what `rpm -V` compares of a file; the numbers are rpm's.
type Verify uint32

// What is compared.
const (
	VerifyDigest Verify = 1 << 0
	VerifyLink   Verify = 1 << 2
	VerifyUser   Verify = 1 << 3
	VerifyGroup  Verify = 1 << 4
	VerifyMode   Verify = 1 << 6
)

// File states: what became of a file at installation.
const (
	stateReplaced = 1 // by another package's
	stateNot      = 2 // was not installed
	stateShared   = 3 // is on another machine
	stateColour   = 4 // another architecture's stands there
)

// File is a file of a package.
type File struct {
	Path        string
	Flags       Flags
	Verify      Verify
	Mode        uint16 // with the type, as stat has it; 0 where nothing says
	Digest      string // in hex; empty where there is none
	Hash        crypto.Hash
	Link        string // where it leads, if it is a link
	User, Group string
	Rights      string // its capabilities, as cap_to_text(3) has them; empty where the header has none
	Absent      bool   // was never installed here
	Shared      bool   // another package's file stands in its place
}

// hashes are the algorithms of file digests by rpm's numbers, which are
// OpenPGP's. Old packages have none: then it is MD5.
var hashes = map[int]crypto.Hash{
	0: crypto.MD5, 1: crypto.MD5, 2: crypto.SHA1, 8: crypto.SHA256, 9: crypto.SHA384, 10: crypto.SHA512, 11: crypto.SHA224,
	12: crypto.SHA3_256, 14: crypto.SHA3_512,
}

// maxDirs bounds the folders of one package.
const maxDirs = 200_000

// Paths calls do for each file in the folders that in takes, and names its
// place among the package's files; a folder ends in a slash.
func (p *Package) Paths(in func(dir []byte) bool, do func(i int, path string)) error {
	v := &p.values
	var dirs [][]byte
	found := false
	for dir := range v.texts(tagDirNames) {
		if len(dirs) == maxDirs {
			return fmt.Errorf("more than %d folders in one package", maxDirs)
		}
		if !in(dir) {
			dir = nil
		}
		found = found || dir != nil
		dirs = append(dirs, dir)
	}
	if !found {
		return v.err
	}
	indexes, i := v.numbers(tagDirIndexes), 0
	for base := range v.texts(tagBaseNames) {
		n := indexes.at(i)
		if int64(n) >= int64(len(dirs)) {
			v.fail(tagDirIndexes)
			break
		}
		if dirs[n] != nil {
			do(i, string(dirs[n])+string(base))
		}
		i++
	}
	return v.err
}

// Files completes files that Paths found; wanted gives their paths by place.
func (p *Package) Files(wanted map[int]string) ([]File, error) {
	v := &p.values
	places := slices.Sorted(maps.Keys(wanted))
	files := make([]File, len(places))
	flags, verify, hash := v.numbers(tagFileFlags), v.numbers(tagFileVerify), hashes[v.number(tagDigestAlgo)]
	modes, modeCount := v.find(tagFileModes, kindInt16)
	states, stateCount := v.find(tagFileStates, 1, 2)
	for n, i := range places {
		files[n] = File{Path: wanted[i], Flags: Flags(flags.at(i)), Verify: ^Verify(0), Hash: hash}
		if len(verify) > 0 {
			files[n].Verify = Verify(verify.at(i))
		}
		if i < modeCount {
			files[n].Mode = binary.BigEndian.Uint16(modes[2*i:])
		}
		if i < stateCount {
			files[n].Absent = states[i] == stateNot || states[i] == stateShared
			files[n].Shared = states[i] == stateReplaced || states[i] == stateColour
		}
	}
	for t, field := range map[tag]func(*File) *string{
		tagFileDigests: func(f *File) *string { return &f.Digest }, tagFileLinks: func(f *File) *string { return &f.Link },
		tagFileUsers: func(f *File) *string { return &f.User }, tagFileGroups: func(f *File) *string { return &f.Group },
		tagFileCaps: func(f *File) *string { return &f.Rights },
	} {
		v.pick(t, places, func(n int, text string) { *field(&files[n]) = text })
	}
	return files, v.err
}

// pick gives those texts of a list that stand at the places, in their order.
func (v *values) pick(t tag, places []int, do func(n int, text string)) {
	i, n := 0, 0
	for text := range v.texts(t) {
		if n == len(places) {
			return
		}
		if i == places[n] {
			do(n, string(text))
			n++
		}
		i++
	}
}
