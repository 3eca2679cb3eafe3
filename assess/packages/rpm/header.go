package rpm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"time"

	"svc/backend/sliced"
)

// tag names a value of a header; the numbers are rpm's.
type tag uint32

const (
	tagName        tag = 1000
	tagVersion     tag = 1001
	tagRelease     tag = 1002
	tagEpoch       tag = 1003
	tagInstallTime tag = 1008
	tagVendor      tag = 1011
	tagPackager    tag = 1015
	tagGroup       tag = 1016
	tagArch        tag = 1022
	tagPreIn       tag = 1023
	tagPostIn      tag = 1024
	tagPreUn       tag = 1025
	tagPostUn      tag = 1026
	tagFileStates  tag = 1029
	tagFileModes   tag = 1030
	tagFileDigests tag = 1035
	tagFileLinks   tag = 1036
	tagFileFlags   tag = 1037
	tagFileUsers   tag = 1039
	tagFileGroups  tag = 1040
	tagSourceRPM   tag = 1044
	tagFileVerify  tag = 1045
	tagDirIndexes  tag = 1116
	tagBaseNames   tag = 1117
	tagDirNames    tag = 1118
	tagPreTrans    tag = 1151
	tagPostTrans   tag = 1152
	tagFileCaps    tag = 5010
	tagDigestAlgo  tag = 5011
	tagModule      tag = 5096
)

// kind is the type of a header's value.
type kind uint32

const (
	kindInt16   kind = 3
	kindInt32   kind = 4
	kindString  kind = 6
	kindStrings kind = 8
	kindI18N    kind = 9
)

// widths are the bytes of one element by kind; text is as long as it is.
var widths = [...]int{0: 0, 1: 1, 2: 1, kindInt16: 2, kindInt32: 4, 5: 8, kindString: 1, 7: 1, kindStrings: 1, kindI18N: 1}

const entrySize = 16

// values are the values of a header: an index, and a store that it points into.
type values struct {
	index, store []byte
	err          error // the first value that was not as its index says
}

// Package is an installed package as its header has it.
type Package struct {
	Name, Version, Release, Arch string

	Epoch     int    // 0 where there is none
	SourceRPM string // name of the file: bash-5.1.8-6.el9.src.rpm
	Vendor    string
	Packager  string
	Group     string
	Module    string // modularity label: name:stream:version:context
	Installed time.Time

	values values
}

// Parse reads a header as the database keeps it: without a lead or a signature.
func Parse(blob []byte) (*Package, error) {
	v, err := parseValues(blob)
	if err != nil {
		return nil, err
	}
	p := &Package{
		Name: v.text(tagName), Version: v.text(tagVersion), Release: v.text(tagRelease), Arch: v.text(tagArch),
		Epoch: v.number(tagEpoch), SourceRPM: v.text(tagSourceRPM), Vendor: v.text(tagVendor), Packager: v.text(tagPackager),
		Group: v.text(tagGroup), Module: v.text(tagModule),
	}
	if n := v.number(tagInstallTime); n > 0 {
		p.Installed = time.Unix(int64(n), 0).UTC()
	}
	switch {
	case v.err != nil:
		return nil, v.err
	case p.Name == "" || p.Version == "" || p.Release == "":
		return nil, errors.New("a header without name, version or release")
	}
	p.values = v
	return p, nil
}

// Scripts are the scriptlets by which a package makes what it does not own, and
// takes it away: text, of which nothing is run.
func (p *Package) Scripts() []string {
	v := p.values // a scriptlet that is not as it must be names nothing
	texts := sliced.Map([]tag{tagPreIn, tagPostIn, tagPreUn, tagPostUn, tagPreTrans, tagPostTrans}, v.text)
	return sliced.Filter(texts, func(text string) bool { return text != "" })
}

// parseValues checks that the index points into the store.
func parseValues(blob []byte) (v values, err error) {
	if len(blob) < 8 {
		return v, errors.New("a header of less than 8 bytes")
	}
	entries, size := int64(binary.BigEndian.Uint32(blob)), int64(binary.BigEndian.Uint32(blob[4:]))
	if 8+entries*entrySize+size > int64(len(blob)) || entries == 0 {
		return v, fmt.Errorf("a header of %d values and %d bytes in %d", entries, size, len(blob))
	}
	v.index = blob[8:][:entries*entrySize]
	v.store = blob[8+len(v.index):][:size]
	for e := v.index; len(e) > 0; e = e[entrySize:] {
		kind, offset, count := binary.BigEndian.Uint32(e[4:]), int64(int32(binary.BigEndian.Uint32(e[8:]))), int64(binary.BigEndian.Uint32(e[12:]))
		if kind >= uint32(len(widths)) || offset < 0 || offset+count*int64(widths[kind]) > size {
			return v, fmt.Errorf("value %d of a header points outside of it", binary.BigEndian.Uint32(e))
		}
	}
	return v, nil
}

// find gives the bytes from where a value begins, and how many elements it has.
// Where a tag is there twice the later one, which was added at installation, counts.
func (v *values) find(t tag, kinds ...kind) (data []byte, count int) {
	for at := len(v.index) - entrySize; at >= 0; at -= entrySize {
		e := v.index[at:]
		if tag(binary.BigEndian.Uint32(e)) != t {
			continue
		}
		for _, k := range kinds {
			if kind(binary.BigEndian.Uint32(e[4:])) == k {
				return v.store[binary.BigEndian.Uint32(e[8:]):], int(binary.BigEndian.Uint32(e[12:]))
			}
		}
		v.fail(t)
		return nil, 0
	}
	return nil, 0
}

// fail notes a value that is not as it must be.
func (v *values) fail(t tag) {
	if v.err == nil {
		v.err = fmt.Errorf("value %d of a header is of another type, or cut off", t)
	}
}

// text is a value's text; of translations the first, which is the original.
func (v *values) text(t tag) string {
	data, count := v.find(t, kindString, kindI18N, kindStrings)
	if count == 0 {
		return ""
	}
	end := bytes.IndexByte(data, 0)
	if end < 0 {
		v.fail(t)
		return ""
	}
	if text := string(data[:end]); text != "(none)" { // as rpm writes what is not there
		return text
	}
	return ""
}

// number is a value's first number.
func (v *values) number(t tag) int {
	data, count := v.find(t, kindInt32)
	if count == 0 {
		return 0
	}
	return int(binary.BigEndian.Uint32(data))
}

// numbers is a list of 32-bit numbers, kept as they stand.
type numbers []byte

func (v *values) numbers(t tag) numbers {
	data, count := v.find(t, kindInt32)
	return numbers(data[:4*count])
}

// at is number i, or 0 where the list is shorter.
func (n numbers) at(i int) uint32 {
	if 4*i+4 > len(n) {
		return 0
	}
	return binary.BigEndian.Uint32(n[4*i:])
}

// texts gives a list of texts one by one; it ends early where the list is cut off.
func (v *values) texts(t tag) iter.Seq[[]byte] {
	data, count := v.find(t, kindStrings)
	return func(yield func([]byte) bool) {
		for ; count > 0; count-- {
			end := bytes.IndexByte(data, 0)
			if end < 0 {
				v.fail(t)
				return
			}
			if !yield(data[:end]) {
				return
			}
			data = data[end+1:]
		}
	}
}
