/** A server that does not speak TLS, by the code of OpenSSL or Node. */
export const NOT_TLS_CODES = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
  'EPROTO',
])

/** What is wrong with a certificate, by the code of OpenSSL or Node. */
export const UNVERIFIED: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'has an issuer that is not a known root',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has an issuer that the server does not send',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has an issuer that the server does not send',
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
}

/** Codes of certificates that a private authority has issued, or nobody. */
export const PRIVATE_ISSUER_CODES = new Set(
  Object.keys(UNVERIFIED).filter((code) => /SELF_SIGNED|ISSUER|LEAF/.test(code)),
)
