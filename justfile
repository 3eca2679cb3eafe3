# Recipes are thin: what they call works without just.

# the program
build:
    CGO_ENABLED=0 go build -trimpath -o svc ./cmd/svc

# the tests that need nothing but Go
test:
    go test ./...

# everything that must hold before a change lands
check:
    bash .ci/run

# real machines, migrated for real, and proven by cosign (root, Debian's packages, Go's proxy)
e2e:
    go test -count=1 -v -timeout 60m ./.ci/e2e/migration/ -all

# what of the upgrades of databases takes long, with a cluster of so many GB, on a file system that clones or presses where one is named (root, Debian's packages): just upgrade 20 btrfs
upgrade size="3" fs="":
    go test -count=1 -v -timeout 24h ./.ci/e2e/upgrade/ -all -size={{size}} -fs={{fs}}
    go test -count=1 -v -timeout 120m ./.ci/e2e/powercut/ -all
    go test -count=1 -v -timeout 60m ./.ci/e2e/inplace/ -all
    go test -count=1 -v -timeout 60m ./.ci/e2e/databases/ -all
    go test -count=1 -v -timeout 60m ./.ci/e2e/dnf/

# all that is tested on Citus (root, Debian's packages, the extension)
citus:
    bash .ci/citus all

# every kind of hostile machine and of what its shell may answer, and a second Ansible (root, Debian's packages)
hostile:
    go test -count=1 -v -timeout 60m ./.ci/e2e/hostile/ -all
    go test -count=1 -v -timeout 60m ./.ci/e2e/ssh/ -run Hostile -all

# cve-scan beside osv-scanner, which is built for it (root, Go's proxy)
advisories:
    go test -count=1 -v -timeout 60m ./.ci/e2e/advisories/ -all

# a release for all platforms, installed and tried (root, Debian's packages)
release:
    go test -count=1 -v -timeout 60m ./.ci/e2e/release/ -all

# rehearsals, also of a machine that tries to get out (root, Debian's packages)
rehearse:
    go test -count=1 -v -timeout 60m ./.ci/e2e/rehearse/ -all

# servers of the usual kinds, each moved and held against its functions (root, Debian's packages): just servers mail shop
servers *names:
    bash .ci/servers/run.sh {{names}}

# speed, as ratios to a peer or a floor
bench:
    bash .ci/bench

# format the code
fmt:
    go tool -modfile=.ci/tools.mod gofumpt -w .

# every golden file
update:
    go test $(grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -n 1 dirname | sort -u) -update

# every fuzz target, each for a while: just fuzz 30s
fuzz time="10s":
    bash .ci/fuzz {{time}}
