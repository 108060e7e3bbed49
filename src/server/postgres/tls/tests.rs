use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384};

use super::*;

fn certificate(key: &KeyPair) -> Vec<u8> {
    let params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
    params.self_signed(key).unwrap().der().to_vec()
}

#[test]
fn a_certificate_is_hashed_as_its_signature_is() {
    for (algorithm, n_bytes) in [(&PKCS_ECDSA_P256_SHA256, 32), (&PKCS_ECDSA_P384_SHA384, 48)] {
        let der = certificate(&KeyPair::generate_for(algorithm).unwrap());
        assert_eq!(end_point_of(&der).unwrap().len(), n_bytes);
    }
}

#[test]
fn a_signature_without_a_hash_of_its_own_binds_nothing() {
    let der = certificate(&KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap());
    assert_eq!(end_point_of(&der), None);
}

#[test]
fn no_bytes_make_the_reading_of_a_certificate_panic() {
    let der = certificate(&KeyPair::generate().unwrap());
    for end in 0..der.len() {
        assert!(end_point_of(&der[..end]).is_none_or(|it| it.len() == 32));
    }
    for bytes in [&[0x30, 0xff][..], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x80], &[]] {
        assert_eq!(end_point_of(bytes), None);
    }
}
