# One screen of commands. `make test` is the one that has to pass.

TARGET   := x86_64-unknown-linux-gnu
# Where cargo puts what it builds.
BUILT    := $(or $(CARGO_TARGET_DIR),target)
RELEASE  := $(BUILT)/$(TARGET)/release/remindb
NIGHTLY  ?= nightly
FUZZ_S   ?= 30
SEEDS    ?= 100
STEPS    ?= 300
# Tests of random cases, of which `make test` tries a few.
SWEEPS   := memory::typed::tests::lines memory::compile::tests::slices query::tests \
            text::suggest hooks:: replies::
FUZZ_BIN := .tools/bin/cargo-fuzz
CRANFIELD ?= ../shared/eval/cranfield
DIALOGUES ?= ../shared/eval/dialogues
PREFIX   ?= $(HOME)/.local

.PHONY: demo build check test model fuzz crash faults soak beside alarms watch storm bench eval audit \
        knowledge-bench \
        conformance clients agents browser pictures release package install shared

demo:                   ## compile docs/ and talk to it over MCP
	cargo build --locked --bin remindb --example demo
	$(BUILT)/debug/examples/demo $(BUILT)/debug/remindb docs

build:                  ## the program, quick to build
	cargo build --locked

check:                  ## format, lints, documentation
	cargo fmt --check
	cargo clippy --locked --all-targets -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' cargo doc --locked --no-deps --document-private-items --quiet

test: check             ## everything that has to hold
	cargo test --locked
	@command -v chromium chromium-browser google-chrome >/dev/null || test -n "$(CHROMIUM)" \
	    || echo "left out: the page in a real browser; make browser installs one"

model:                  ## a memory against a simple model of one, SEEDS times STEPS operations
	REMINDB_MODEL_SEEDS=$(SEEDS) REMINDB_MODEL_STEPS=$(STEPS) \
	    cargo test --locked --lib memory::tests -- --nocapture
	REMINDB_MODEL_CALLS=10000 cargo test --locked --lib memory::typed -- --nocapture
	REMINDB_MODEL_TIMES=10 cargo test --locked --lib --test it -- $(SWEEPS)

fuzz: $(FUZZ_BIN)       ## each target for FUZZ_S seconds, or those that TARGETS names
	FUZZ_S=$(FUZZ_S) NIGHTLY=$(NIGHTLY) .ci/fuzz $(TARGETS)

$(FUZZ_BIN):
	cargo install cargo-fuzz --locked --root .tools

crash:                  ## minutes of kills, rivals, full disks and torn logs
	cargo test --locked --test it crash::long:: -- --ignored --nocapture

beside:                 ## a write each 50 ms while 50,000 notes are compiled, and kills of compiles
	cargo test --locked --release --test it beside:: -- --ignored --nocapture --test-threads 1

faults:                 ## calls that fail, full disks, lost names, steps of the clock (FAULTS_EACH=)
	cargo test --locked --test it faults::long:: -- --ignored --nocapture

soak:                   ## 100,000 mixed calls over stdio and HTTP: nothing grows (SOAK_CALLS=)
	cargo test --locked --test it soak:: -- --ignored --nocapture

alarms:                 ## each hit of redaction in a folder of published sources (FOLDER=)
	FOLDER='$(FOLDER)' cargo test --locked --lib fuzzing::redaction_false_positive_rate -- \
	    --include-ignored --nocapture

watch:                  ## 10,000 reads beside a busy writer, and 1,000 of everything beside none
	cargo test --locked --lib surface::resources -- --ignored --nocapture

shared:                 ## many machines, with a PostgreSQL of its own (STORM_S= STORM_SEEDS=, PG_BIN=)
	@ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || test -n "$$PG_BIN" \
	    || { echo "PostgreSQL is missing: apt-get install postgresql"; exit 1; }
	cargo test --locked --test it shared:: -- --ignored --nocapture --test-threads 1

storm:                  ## a client among 500 idle, 50 slow and 10,000 hasty ones, over HTTP
	cargo test --locked --release --test it mcp_http::a_long_storm -- --ignored --nocapture

bench:                  ## what it takes, beside the least work there is (N=, MILLION=1, JSON=, ONLY=)
	.ci/static bench --bench ratios

eval:                   ## how well it finds, beside plain full-text search (WORDS= EMBEDDINGS=)
	cargo build --locked --release --quiet --bin remindb
	CRANFIELD='$(CRANFIELD)' DIALOGUES='$(DIALOGUES)' \
	    cargo run --locked --quiet --example eval -- $(BUILT)/release/remindb \
	    $(if $(WORDS),--words $(WORDS)) $(if $(EMBEDDINGS),--embeddings '$(EMBEDDINGS)')

knowledge-bench:        ## episodes and concepts beside remind-mcp (REMIND=a Python with it, SIZES=)
	cargo build --locked --release --quiet --bin remindb
	python3 .ci/knowledge-bench.py $(BUILT)/release/remindb '$(or $(SIZES),1000 10000)' '$(REMIND)'

audit: .tools/bin/cargo-deny  ## dependencies, bill of materials; static, reproducible, tiny
	PATH="$(CURDIR)/.tools/bin:$$PATH" .ci/audit

.tools/bin/cargo-deny:
	cargo install cargo-deny --locked --root .tools

conformance:            ## the official suite against its fixtures here, or the server at URL
	.ci/conformance $(URL)

clients: build          ## a day of each official client, over stdio and HTTP (DAY='sdk_2 http')
	.ci/clients $(DAY)

agents:                 ## real agents with a stand-in for their model (ONLY='codex core')
	.ci/agents $(ONLY)

browser: .tools/axe.min.js  ## the page in a real Chromium, with axe-core
	.ci/chromium
	BROWSER_REQUIRED=1 cargo test --locked --release --test it browser:: -- --nocapture
	BROWSER_REQUIRED=1 cargo test --locked --release --test it \
	    browser::a_million_nodes_are_shown_at_once -- --ignored --exact --nocapture

pictures: build         ## pictures of the page for the manual
	.ci/chromium
	PICTURES='$(CURDIR)/docs/pictures' cargo test --locked --test it browser::pictures -- --ignored

.tools/axe.min.js:
	.ci/axe $@

release:                ## one static, stripped file
	.ci/static build --release
	@ldd $(RELEASE) 2>&1 | grep -q 'not a dynamic executable'
	@ls -l $(RELEASE)

package: release        ## .deb, npm, wheel, tarball, formula into dist/, each tried in a bare folder
	.ci/package $(RELEASE)
	.ci/package-check

install: release        ## into PREFIX/bin
	install -D -m 755 $(RELEASE) $(PREFIX)/bin/remindb
