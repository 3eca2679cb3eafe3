// Package course has what became of one package between two releases, as far as it was
// followed: to which names, how surely, by which evidence, and what a person should
// know of it. How it is followed is of packages translate and torpm.
package course
