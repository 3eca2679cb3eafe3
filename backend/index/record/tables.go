package record

// RPMReverse has the rpms that are, or are part of, a package of Debian.
const RPMReverse = "rpm/reverse" // package of Debian → rpms that are it, rpms that have a part of it; those of one line with this before them

// DerivedTable has the releases that are near to a suite of Debian.
const DerivedTable = "curated/derived" // release → nearest, other, versions

// DerivativePackages has the packages of derived releases that no suite nearest to them
// has: package → canonical, major, releases; canonical → package.
const DerivativePackages = "kin/packages"

// UbuntuNames has what Ubuntu has in place of packages of Debian.
const UbuntuNames = "ubuntu/names"

// The tables of database engines, keyed by engine.
const (
	EdgesTable    = "curated/upgrade-edges"
	BarriersTable = "curated/upgrade-barriers"
	SeriesTable   = "curated/database-series"
	OffersTable   = "curated/database-offers"
)

// The tables of the rpm distributions.
const (
	RPMNames       = "rpm/names"      // name → canonical, major, levels of EL that are known to have it, line, levels until which it was something else, levels of SUSE, and the trail to packages of Debian
	RPMCanonicals  = "rpm/canonicals" // canonical → names
	RPMRows        = "rpm/rows"       // curated pattern → trail
	RPMLibraries   = "rpm/libraries"  // stem → canonical of Debian
	DerivativeRows = "kin/rows"       // the same for packages that only derivatives of Debian have
	VendorsTable   = "vendors"        // vendor → what to know of its repository
	RPMTrails      = "rpm/trails/"    // and a level: name → trail to the next level
	RPMOwn         = "rpm/own"        // distribution/own name → EL's; distribution and EL's → relation, own names
)

// RPMLists has which lists of releases near EL, and of SUSE, have an rpm:
// name → words such as amzn-2023, fedora and suse-15.
const RPMLists = "rpm/lists"

// RPMSpellings has how names of lists that have capitals are spelled: in the letters
// of canonicals → name.
const RPMSpellings = "rpm/spellings"

// The tables: those of a release are its slug and one of these.
const (
	NamesTable      = "/names"
	CanonicalsTable = "/canonicals"
	ProvidesTable   = "/provides"
	SourcesTable    = "/sources"
	FilesTable      = "/files"
	OwnersTable     = "/owners"

	ModulesTable  = "modules"  // of all releases: package of a Perl module → the rpm's name, where no rule makes it
	PatternsTable = "patterns" // of all releases: name with * for the version → canonical

	CaveatsTable      = "curated/caveats"
	ConditionalsTable = "curated/conditionals"
	ConfigTable       = "curated/config-paths"
)

// UnitsTable and a release have which packages of it ship units, by the first words of their
// names.
const UnitsTable = "units/"

// TrailsTable has what changes from a release to a neighbour, either way.
func TrailsTable(from, to string) string { return from + ">" + to + TrailsEnd }

// TrailsEnd ends the names of those tables.
const TrailsEnd = "/trails"

// The tables of a release whose rpm repositories were imported.
const (
	RPMsTable      = "/rpms"      // name → version, repository, source, streams, whether they must be enabled
	ObsoletesTable = "/obsoletes" // obsoleted name → by whom, of which versions
)

// DebianRows has what packages of Debian and its derivatives are in the lines of rpm
// releases where names do not say so: name or pattern → relation, EL, SUSE.
const DebianRows = "rpm/debian-rows"
