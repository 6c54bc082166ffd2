# The commands of ci/ in one list: `just --list`. `just NAME …` is `ci/NAME …`; neither needs the other.

set positional-arguments

_default:
    @just --list --unsorted

# virtual environment in .venv, with the versions of requirements.lock, and the control plane in the user cache
setup:
    @ci/setup

# lint, types, contracts and fast tests, within 90 seconds
quick *arguments:
    @ci/quick "$@"

# everything that must hold; what a pipeline calls
check *arguments:
    @ci/check "$@"

# the demo
demo:
    @ci/demo

# what each way to notice drift outside Kubernetes costs, as a table in docs/external.md
tradeoff *controllers:
    @ci/tradeoff "$@"

# all commands that are too slow for check, with a table at the end; names choose
nightly *names:
    @ci/nightly "$@"

# make the script of report.html (Node)
page:
    @ci/page

# report.html in Chromium: every stored trial, and its speed
browser *args:
    @ci/browser "$@"

# make the pictures of report.html in docs/report, of a run with findings and of one without
screenshots *args:
    @ci/screenshots "$@"

# write what is printed from code into docs
docs:
    @ci/docs

# write requirements.lock; `just lock --upgrade` renews it
lock *arguments:
    @ci/lock "$@"

# the newest of everything that pyproject.toml allows
newest *arguments:
    @ci/newest "$@"

# unit tests and the demo on each Python that is here
pythons *versions:
    @ci/pythons "$@"

# what the tests reach
coverage *arguments:
    @ci/coverage "$@"

# what runs cost, in ten minutes
bench *arguments:
    @ci/bench "$@"

# the integration tests that check has no time for
live *arguments:
    @ci/live "$@"

# does the proxy last? ten minutes at 500 events a second
soak *arguments:
    @ci/soak "$@"

# errors planted in a copy: does a test of check find each?
planted *names:
    @ci/planted "$@"

# every mutant is caught: one table
golden *arguments:
    @ci/golden "$@"

# no honest controller is accused, in any scenario: one table
repeat *arguments:
    @ci/repeat "$@"

# drawn plans alone: do they find every mutant, and accuse no honest controller?
drawn *arguments:
    @ci/drawn "$@"

# random plans and gate schedules: the watch contract holds
properties *arguments:
    @ci/properties "$@"

# what real clients do about every fault
reactions *arguments:
    @ci/reactions "$@"

# samples of public kinds against a real API server
crds *arguments:
    @ci/crds "$@"

# controllers in Java, JavaScript and Rust
languages *arguments:
    @ci/languages "$@"

# public operators, built and run
operators *arguments:
    @ci/operators "$@"

# published bugs, with generic options: what is found, and how many
published *arguments:
    @ci/published "$@"

# INT and TERM in every phase of a run
interrupts *arguments:
    @ci/interrupts "$@"

# holds that outlast kube-controller-manager's expectations
slow *arguments:
    @ci/slow "$@"

# a container engine for a Debian machine
engine:
    @ci/engine

# recordings of the demo and of a run, into docs/terminal
recordings *arguments:
    @ci/recordings "$@"

# the images that staleproof tries itself on
images:
    @ci/images
