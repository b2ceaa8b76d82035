import tls from 'node:tls'

/**
 * The groups of key exchange that every TLS connection of this process offers, from the import of
 * this module on.
 *
 * By default OpenSSL 3.5 sends a key share for X25519MLKEM768, too. Its ClientHello has 1,600 bytes,
 * more than one packet holds, and mail servers and firewalls exist that hang at it or reset the
 * connection. Without hybrid groups it has 350.
 */
tls.DEFAULT_ECDH_CURVE = 'X25519:P-256:P-384:P-521'
