package ext4

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"svc/assess/disk/block"
)

var be = binary.BigEndian

// The blocks of a journal (jbd2) start with a magic number, their type and the
// number of their transaction; all of a journal is big-endian.
const (
	journalMagic      = 0xC03B3998
	typeDescriptor    = 1
	typeCommit        = 2
	typeSuperblockOld = 3
	typeSuperblock    = 4
	typeRevoke        = 5
	journalHeader     = 12
	revokeHeader      = 16
	uuidSize          = 16
)

// Incompatible features of a journal.
const (
	journalRevoke      = 0x1
	journal64Bit       = 0x2
	journalAsync       = 0x4
	journalCsum2       = 0x8
	journalCsum3       = 0x10
	journalFastCommit  = 0x20
	knownJournal       = journalRevoke | journal64Bit | journalAsync | journalCsum2 | journalCsum3 | journalFastCommit
	defaultFastCommits = 256 // blocks
)

// Flags of a tag, which names a logged block.
const (
	tagEscaped  = 1 // the block started with the journal's magic, and is logged with 0 there
	tagSameUUID = 2
	tagLast     = 8
)

// advice is what makes a journal superfluous.
const advice = ": let Linux mount it once, or run e2fsck"

// maxLogged bounds the tags and revocations that are taken from a journal.
const maxLogged = 1 << 20

// journal is an open journal. Its blocks count from the start of its file.
type journal struct {
	v           *volume
	n           *node
	first, last uint64 // the log is a ring of the blocks from first on, before last
	start       uint64 // where the oldest transaction is, 0 if none is
	sequence    uint32 // its number
	features    uint32
	fastCommits uint64 // the block where they start, 0 without
	seed        uint32
}

// logged is a block that the journal has a newer copy of.
type logged struct {
	copy     uint64 // block of the device
	sequence uint32 // the transaction
	checksum uint32
	escaped  bool
}

// overlay has the blocks of a device that are read from its journal.
type overlay struct {
	blocks map[uint64]logged
	mask   uint32 // of the bits that a checksum has, 0 without checksums
	seed   uint32 // where checksums start
}

// tag is a logged block with the block that it stands for.
type tag struct {
	block uint64
	logged
}

// transaction is what was to be written as one.
type transaction struct {
	sequence uint32
	tags     []tag
	revoked  []uint64
}

// recovered is the file system as it is once its journal is written back.
func (v *volume) recovered(size int64) (*volume, error) {
	j, err := v.openJournal()
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if j.start == 0 {
		return v, nil
	}
	log, err := j.scan()
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	d := v.device
	d.overlay = j.overlay(log)
	s, err := readSuperblock(&d, size)
	if err != nil {
		return nil, fmt.Errorf("after the journal: %w", err)
	}
	if s.blockSize != v.blockSize {
		return nil, damaged("the journal has a superblock with blocks of %d bytes", s.blockSize)
	}
	d.blocks = s.blocks
	return newVolume(s, d), nil
}

// openJournal reads the journal's superblock.
func (v *volume) openJournal() (*journal, error) {
	if v.journal == 0 {
		return nil, block.Unsupported("it is on another device%s", advice)
	}
	n, err := v.node(v.journal)
	if err != nil {
		return nil, err
	}
	if err := n.readable(typeRegular); err != nil {
		return nil, err
	}
	j := &journal{v: v, n: n}
	b, err := j.block(0)
	if err != nil {
		return nil, err
	}
	return j, j.parse(b)
}

func (j *journal) parse(b []byte) error {
	kind := be.Uint32(b[4:])
	if be.Uint32(b) != journalMagic || kind != typeSuperblock && kind != typeSuperblockOld {
		return damaged("it has no superblock")
	}
	if size := be.Uint32(b[0xC:]); uint64(size) != j.v.blockSize {
		return damaged("its blocks have %d bytes", size)
	}
	j.first, j.last = uint64(be.Uint32(b[0x14:])), uint64(be.Uint32(b[0x10:]))
	j.sequence, j.start = be.Uint32(b[0x18:]), uint64(be.Uint32(b[0x1C:]))
	if kind == typeSuperblock {
		if err := j.parseFeatures(b); err != nil {
			return err
		}
	}
	if j.first == 0 || j.first >= j.last || j.last > uint64(j.n.Size)/j.v.blockSize || j.start >= j.last || j.start != 0 && j.start < j.first {
		return damaged("its log is from block %d to %d and starts at %d, in a file of %d bytes", j.first, j.last, j.start, j.n.Size)
	}
	return nil
}

// parseFeatures reads what the first journals did not have.
func (j *journal) parseFeatures(b []byte) error {
	j.features = be.Uint32(b[0x28:])
	if unknown := j.features &^ knownJournal; unknown != 0 {
		return block.Unsupported("incompatible features %#x%s", unknown, advice)
	}
	if j.features&journalAsync != 0 && !j.checked() {
		return block.Unsupported("transactions without order or checksums%s", advice)
	}
	if j.checked() && crc32cBut(^uint32(0), b[:1024], 0xFC, 4) != be.Uint32(b[0xFC:]) {
		return damaged("its superblock's checksum is wrong")
	}
	j.seed = crc32c(^uint32(0), b[0x30:0x40])
	if j.features&journalFastCommit != 0 {
		count := uint64(cmp.Or(be.Uint32(b[0x54:]), defaultFastCommits))
		j.last -= min(count, j.last)
		j.fastCommits = j.last + 1
	}
	return nil
}

func (j *journal) checked() bool { return j.features&(journalCsum2|journalCsum3) != 0 }

// block reads a block of the journal's file.
func (j *journal) block(at uint64) ([]byte, error) {
	b := make([]byte, j.v.blockSize)
	_, err := (content{j.n}).ReadAt(b, int64(at*j.v.blockSize))
	return b, err
}

// next is the block after another one in the ring.
func (j *journal) next(at uint64) uint64 {
	if at++; at == j.last {
		return j.first
	}
	return at
}

// log is what a scan has found so far.
type log struct {
	done    []transaction
	open    transaction // the one that has no commit block yet
	suspect bool        // a checksum of the open one is wrong
	count   int         // blocks, copies and revocations
	time    uint64      // of the last commit
}

// scan collects the transactions that were committed, the oldest first. It ends
// with the first block that is none of the next transaction: what was not
// committed, and what is left of an older round of the ring.
func (j *journal) scan() ([]transaction, error) {
	l := log{open: transaction{sequence: j.sequence}}
	at := j.start
	for range j.last - j.first {
		b, err := j.block(at)
		if err != nil {
			return nil, err
		}
		if be.Uint32(b) != journalMagic || be.Uint32(b[8:]) != l.open.sequence {
			break
		}
		copies, more, err := j.take(&l, b, at)
		if err != nil {
			return nil, fmt.Errorf("transaction %d, block %d: %w", l.open.sequence, at, err)
		}
		if !more {
			break
		}
		for range 1 + copies {
			at = j.next(at)
		}
	}
	return l.done, j.checkFastCommits(l.open.sequence)
}

// take adds a block of the log to what was found, which so many copies follow.
// more is false where the log ends.
func (j *journal) take(l *log, b []byte, at uint64) (copies int, more bool, err error) {
	switch be.Uint32(b[4:]) {
	case typeDescriptor:
		l.suspect = l.suspect || !j.tailOK(b)
		copies, err = j.addTags(l, b, at)
	case typeRevoke:
		l.suspect = l.suspect || !j.tailOK(b)
		err = j.addRevoked(l, b)
	case typeCommit:
		more, err = j.commit(l, b)
		return 0, more, err
	default:
		return 0, false, nil
	}
	if l.count += 1 + copies; l.count > maxLogged {
		err = block.Unsupported("more than %d blocks to write back%s", maxLogged, advice)
	}
	return copies, true, err
}

// tailOK checks the checksum at the end of a descriptor or a revocation.
func (j *journal) tailOK(b []byte) bool {
	tail := len(b) - 4
	return !j.checked() || crc32cBut(j.seed, b, tail, 4) == be.Uint32(b[tail:])
}

// commit ends a transaction. One with a wrong checksum that is older than the
// last is left of an older round; a newer one is damage.
func (j *journal) commit(l *log, b []byte) (more bool, err error) {
	time := be.Uint64(b[0x30:])
	if j.checked() && (l.suspect || crc32cBut(j.seed, b, 0x10, 4) != be.Uint32(b[0x10:])) {
		if time < l.time {
			return false, nil
		}
		return false, damaged("its checksum is wrong")
	}
	l.done = append(l.done, l.open)
	l.open = transaction{sequence: l.open.sequence + 1}
	l.time = time
	return true, nil
}

// tagSize is how many bytes a tag takes, without the UUID that may follow.
func (j *journal) tagSize() int {
	switch {
	case j.features&journalCsum3 != 0:
		return 16
	case j.features&journalCsum2 != 0:
		return 10 + j.wide()
	}
	return 8 + j.wide()
}

// wide is how many more bytes the number of a block takes.
func (j *journal) wide() int {
	if j.features&journal64Bit != 0 {
		return 4
	}
	return 0
}

// addTags takes the tags of a descriptor block, and gives how many they are: as
// many copies follow it in the log.
func (j *journal) addTags(l *log, b []byte, at uint64) (copies int, err error) {
	size, end := j.tagSize(), len(b)
	if j.checked() {
		end -= 4
	}
	for off, last := journalHeader, false; !last && off+size <= end; off += size {
		t, flags := j.parseTag(b[off:], l.open.sequence)
		at = j.next(at)
		if t.copy, err = j.place(at); err != nil {
			return copies, err
		}
		l.open.tags = append(l.open.tags, t)
		copies++
		if flags&tagSameUUID == 0 {
			off += uuidSize
		}
		last = flags&tagLast != 0
	}
	return copies, nil
}

// place is where a block of the journal is on the device.
func (j *journal) place(at uint64) (uint64, error) {
	r, err := j.v.locate(j.n, at, 1)
	if err == nil && r.hole {
		err = damaged("block %d of the journal is not there", at)
	}
	return r.start, err
}

func (j *journal) parseTag(b []byte, sequence uint32) (t tag, flags uint32) {
	t = tag{block: uint64(be.Uint32(b)), logged: logged{sequence: sequence}}
	if j.features&journalCsum3 != 0 {
		flags = be.Uint32(b[4:])
		t.checksum = be.Uint32(b[12:])
	} else {
		flags = uint32(be.Uint16(b[6:]))
		t.checksum = uint32(be.Uint16(b[4:]))
	}
	if j.features&journal64Bit != 0 {
		t.block |= uint64(be.Uint32(b[8:])) << 32
	}
	t.escaped = flags&tagEscaped != 0
	return t, flags
}

// addRevoked takes blocks whose older copies must not be written back.
func (j *journal) addRevoked(l *log, b []byte) error {
	end, size := int(be.Uint32(b[journalHeader:])), 4+j.wide()
	if end < revokeHeader || end > len(b) {
		return damaged("a revocation of %d bytes", end)
	}
	for b = b[revokeHeader:end]; len(b) >= size; b = b[size:] {
		block := uint64(be.Uint32(b))
		if size == 8 {
			block = be.Uint64(b)
		}
		l.open.revoked = append(l.open.revoked, block)
		l.count++
	}
	return nil
}

// checkFastCommits refuses a journal in which changes follow the last
// transaction in the other form, that only Linux itself knows to apply.
func (j *journal) checkFastCommits(next uint32) error {
	const head = 9
	if j.fastCommits == 0 {
		return nil
	}
	b, err := j.block(j.fastCommits)
	if err == nil && le.Uint16(b) == head && le.Uint32(b[8:]) == next {
		err = block.Unsupported("fast commits that were not written back%s", advice)
	}
	return err
}

// overlay is the last copy of each block that no later transaction revokes.
func (j *journal) overlay(transactions []transaction) overlay {
	revoked := map[uint64]uint32{}
	for _, t := range transactions {
		for _, block := range t.revoked {
			revoked[block] = t.sequence
		}
	}
	o := overlay{blocks: map[uint64]logged{}, mask: j.checksumMask(), seed: j.seed}
	for _, t := range transactions {
		for _, tag := range t.tags {
			if by, ok := revoked[tag.block]; !ok || int32(t.sequence-by) > 0 {
				o.blocks[tag.block] = tag.logged
			}
		}
	}
	return o
}

// checksumMask has the bits that are kept of a block's checksum.
func (j *journal) checksumMask() uint32 {
	switch {
	case j.features&journalCsum3 != 0:
		return 0xFFFFFFFF
	case j.features&journalCsum2 != 0:
		return 0xFFFF
	}
	return 0
}

// read gives the copy of a block.
func (o overlay) read(d *device, l logged) ([]byte, error) {
	b := make([]byte, d.blockSize)
	if _, err := d.readPlain(b, int64(l.copy*d.blockSize)); err != nil {
		return nil, err
	}
	if o.mask != 0 && (crc32c(crc32c(o.seed, be.AppendUint32(nil, l.sequence)), b)^l.checksum)&o.mask != 0 {
		return nil, damaged("the checksum of its copy in transaction %d is wrong", l.sequence)
	}
	if l.escaped {
		be.PutUint32(b, journalMagic)
	}
	return b, nil
}
