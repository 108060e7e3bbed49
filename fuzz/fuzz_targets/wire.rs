#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remindb::fuzzing::postgres_wire_protocol::wire(data));
