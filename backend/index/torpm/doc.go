// Package torpm follows packages to a release whose packages are rpms: from Debian's
// family by rows and canonicals, from another release of the line level by level, and
// between the lines of EL and SUSE by the package of Debian that both have.
package torpm
