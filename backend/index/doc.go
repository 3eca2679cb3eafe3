// Package index answers what software a package of a release is, what it
// becomes in another release, and where its configuration goes. Its data are
// the distribution's own metadata and curated rows, built into tables by
// package build; those of the program have Debian 11 to 14.
//
// What one release has is of package lookup, what becomes of a package of packages
// translate and torpm, which give a course, and where its files go of package
// relocation. This package asks them, and keeps what many machines ask for.
//
// A binary package is (software, role, major). Its canonical is the software,
// its major where several majors live side by side, and "--" with its role when
// that is not main. Within one release every canonical names one package, and
// the same job keeps its canonical from release to release: libssl1.1 and
// libssl3t64 are both openssl--lib.
package index
