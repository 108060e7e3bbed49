# The program alone: `make release` first, then
#
#     docker build -t remindb .
#     docker run --rm -i -v "$PWD/.remindb:/memory" remindb
#
# Mount the folder of the memory, never the database alone: its log lies beside it. The folder has to be
# writable for user 65532, or for the one that `--user` names.
FROM scratch
COPY target/x86_64-unknown-linux-gnu/release/remindb /remindb
USER 65532:65532
VOLUME /memory
ENV REMINDB_DB=/memory/memory.db
ENTRYPOINT ["/remindb"]
CMD ["serve"]
