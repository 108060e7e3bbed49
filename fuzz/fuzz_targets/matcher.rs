#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remindb::fuzzing::matcher::matcher(data));
