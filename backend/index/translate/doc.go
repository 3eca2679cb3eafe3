// Package translate follows packages from one release to another: within Debian from
// suite to suite, to and from its derivatives, from rpms, Alpine and its like over the package of
// Debian that a name is, and to rpms by package torpm.
package translate
