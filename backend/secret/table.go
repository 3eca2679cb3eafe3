package secret

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"svc/backend/tsv"
)

//go:embed names.tsv
var namesTSV string

//go:embed forms.tsv
var formsTSV string

//go:embed commands.tsv
var commandsTSV string

//go:embed directives.tsv
var directivesTSV string

// how says what a name tells of its value.
type how string

// name is a row of names.tsv.
type name struct {
	text string
	how  how
}

// names are the rows of names.tsv by their last letter.
var names = sync.OnceValue(func() (by [256][]name) {
	for r := range tsv.Rows(namesTSV, 3) {
		last := r[0][len(r[0])-1]
		by[last] = append(by[last], name{r[0], how(r[1])})
	}
	return by
})

// form is a row of forms.tsv.
type form struct {
	begins, of string
	least      int
	kind       Kind
}

// forms are the rows of forms.tsv by their first letter.
var forms = sync.OnceValue(func() (by [256][]form) {
	kinds := map[string]Kind{"token": Token, "digest": Digest, "password": Password, "private key": Key}
	for r := range tsv.Rows(formsTSV, 5) {
		least, _ := strconv.Atoi(r[2]) // a test reads the table
		by[r[0][0]] = append(by[r[0][0]], form{r[0], r[1], least, kinds[r[3]]})
	}
	return by
})

// option is an option of a program, after which a secret stands.
type option struct{ flag, how, parted string }

// programs are the options of commands.tsv by their program.
var programs = sync.OnceValue(func() map[string][]option {
	by := map[string][]option{}
	for r := range tsv.Rows(commandsTSV, 5) {
		by[r[0]] = append(by[r[0]], option{r[1], r[2], r[3]})
	}
	return by
})

// wordAt is a word of a line, counted from 1 after the first, or of what stands in it after a colon.
type wordAt struct {
	word   int
	paired bool
}

// directives are the places of secrets in lines that begin with a word or two.
var directives = sync.OnceValue(func() map[string][]wordAt {
	by := map[string][]wordAt{}
	for r := range tsv.Rows(directivesTSV, 3) {
		for at := range strings.SplitSeq(r[1], ",") {
			number, paired := strings.CutSuffix(at, ":")
			n, _ := strconv.Atoi(number)
			by[r[0]] = append(by[r[0]], wordAt{n, paired})
		}
	}
	return by
})

// begins are the first words of directives.
var begins = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for begin := range directives() {
		first, _, _ := strings.Cut(begin, " ")
		all[first] = true
	}
	return all
})
