import tls from 'node:tls'
import { checkIdentity } from './server-identity.ts'

/**
 * The groups of key exchange that every TLS connection of this process offers, from the import of
 * this module on.
 *
 * By default OpenSSL 3.5 sends a key share for X25519MLKEM768, too. Its ClientHello has 1,600 bytes,
 * more than one packet holds, and mail servers and firewalls exist that hang at it or reset the
 * connection. Without hybrid groups it has 350.
 */
tls.DEFAULT_ECDH_CURVE = 'X25519:P-256:P-384:P-521'

/**
 * The check of names of every TLS connection that verifies a certificate, also of those that
 * `fetch`, `https`, pg, nodemailer and imapflow make: Node reads it from here for each. Its own
 * accepts `w*.example.com`, and names that are only in the common name.
 */
Object.assign(tls, { checkServerIdentity: checkIdentity })
