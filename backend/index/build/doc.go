// Package build makes index files of the distributions' own metadata and of curated
// rows. What it imports stands in folders beside it, one a format.
//
// Build reads a folder (Sources.Apt) with a folder for each release, such as
//
//	debian-12/main/Packages.xz        debian-12/main/Contents-amd64.gz
//	debian-12/contrib/Packages.xz     debian-12/main/Contents-all.gz
//
// or files with the names that apt gives them in its lists folder, as they are
// in /var/lib/apt/lists. Each may be plain or end in .gz, .xz, .lz4 or .zst.
// data/fetch.sh fetches what the embedded index is made from. An archive can
// also be given by its URL, or as a folder that mirrors its dists.
//
// The lists of rpm releases come from repositories (Sources.RPM), in folders
// such as rocky-9/BaseOS/repodata or by URL: they decide what a release has,
// and their Obsoletes and Provides what became of a package. Curated rows of a
// customer (Sources.Curated) go before those of the program.
package build
