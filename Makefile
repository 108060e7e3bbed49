# One screen of commands. `make test` is the one that has to pass.

TARGET   := x86_64-unknown-linux-gnu
RELEASE  := target/$(TARGET)/release/remindb
STATIC   := RUSTFLAGS='-C target-feature=+crt-static -C relocation-model=static' cargo build --release --locked --target $(TARGET)
NIGHTLY  ?= nightly
FUZZ_S   ?= 30
SEEDS    ?= 100
STEPS    ?= 300
FUZZ_BIN := .tools/bin/cargo-fuzz
PREFIX   ?= $(HOME)/.local

.PHONY: demo build check test model fuzz crash bench release install

demo: build             ## compile docs/ and talk to it over MCP
	cargo run --locked --quiet --example demo -- target/debug/remindb docs

build:                  ## the program, quick to build
	cargo build --locked

check:                  ## format, lints, documentation
	cargo fmt --check
	cargo clippy --locked --all-targets -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' cargo doc --locked --no-deps --document-private-items --quiet

test: check             ## everything that has to hold
	cargo test --locked

model:                  ## a memory against a simple model of one, SEEDS times STEPS operations
	REMINDB_MODEL_SEEDS=$(SEEDS) REMINDB_MODEL_STEPS=$(STEPS) \
	    cargo test --locked --lib memory::tests -- --nocapture

fuzz: $(FUZZ_BIN)       ## each target for FUZZ_S seconds
	for target in $$(PATH="$(CURDIR)/.tools/bin:$$PATH" cargo +$(NIGHTLY) fuzz list); do \
	    mkdir -p fuzz/corpus/$$target && \
	    PATH="$(CURDIR)/.tools/bin:$$PATH" cargo +$(NIGHTLY) fuzz run $$target -- \
	        -max_total_time=$(FUZZ_S) -timeout=20 -rss_limit_mb=4096 || exit 1; \
	done

$(FUZZ_BIN):
	cargo install cargo-fuzz --locked --root .tools

crash:                  ## minutes of kills, rivals, full disks and torn logs
	cargo test --locked --test it crash::long:: -- --ignored --nocapture

bench:                  ## what it takes, beside the least work there is (N=, MILLION=1, JSON=)
	cargo bench --locked --bench ratios

release:                ## one static, stripped file
	$(STATIC)
	@ldd $(RELEASE) 2>&1 | grep -q 'not a dynamic executable'
	@ls -l $(RELEASE)

install: release        ## into PREFIX/bin
	install -D -m 755 $(RELEASE) $(PREFIX)/bin/remindb
