import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { invalidField } from '../../errors.ts'
import { DAY_MS, isoDay } from '../../time.ts'

/** The certificate with which a client authenticates itself, and its private key; both PEM. */
export type ClientCertificate = { certificate: string; privateKey: string }

/** Days before the expiry of a certificate in which it is reported. */
const WARNING_DAYS = 30

/** Microsoft accepts no shorter keys. */
const MIN_KEY_BITS = 2048

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g

/**
 * Reads a certificate and its private key from PEM texts, in any order. Further certificates of the
 * chain are ignored.
 * @param path of the text in the request or the settings, for the details of a fault
 * @throws Fault `invalid_request`
 */
export function readClientCertificate(pem: string, path: string): ClientCertificate {
  const blocks = [...pem.matchAll(PEM_BLOCK)].map(([text, label = '']) => ({ text, label }))
  const privateKey = readKey(blocks, path)
  const certificates = blocks
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ text }) => readCertificate(text, path))
  if (certificates.length === 0)
    throw invalidField(path, 'has no certificate: a block that begins with BEGIN CERTIFICATE')
  const certificate = certificates.find((each) => each.checkPrivateKey(privateKey))
  if (!certificate)
    throw invalidField(path, 'has a private key and a certificate that do not belong together')
  return {
    certificate: certificate.toString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/**
 * Reads a certificate as `readClientCertificate`, and requires that it is valid now.
 * @throws Fault `invalid_request`
 */
export function readValidCertificate(pem: string, path: string): ClientCertificate {
  const found = readClientCertificate(pem, path)
  const { validFromDate, validToDate } = new X509Certificate(found.certificate)
  const now = Date.now()
  if (validToDate.getTime() <= now)
    throw invalidField(path, `has a certificate that expired on ${isoDay(validToDate)}`)
  if (validFromDate.getTime() > now)
    throw invalidField(path, `has a certificate that is not valid before ${isoDay(validFromDate)}`)
  return found
}

type Block = { text: string; label: string }

function readKey(blocks: Block[], path: string): KeyObject {
  const [block, ...others] = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'))
  if (!block)
    throw invalidField(path, 'has no private key: a block that begins with BEGIN PRIVATE KEY')
  if (others.length > 0)
    throw invalidField(path, 'has several private keys: leave only that of the certificate')
  if (block.label.startsWith('ENCRYPTED') || block.text.includes('ENCRYPTED'))
    throw invalidField(path, 'has a private key with a passphrase: remove it with openssl pkey')
  const key = parse(() => createPrivateKey(block.text))
  if (key?.asymmetricKeyType !== 'rsa')
    throw invalidField(path, 'has a private key that cannot be used: it must be an RSA key')
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_KEY_BITS)
    throw invalidField(path, `has a private key of fewer than ${MIN_KEY_BITS} bits`)
  return key
}

function readCertificate(text: string, path: string): X509Certificate {
  const certificate = parse(() => new X509Certificate(text))
  if (certificate) return certificate
  throw invalidField(path, 'has a certificate that cannot be read')
}

/** Errors of the parser may quote the text, which is a secret. */
function parse<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Presents a certificate for the API. */
export function shownCertificate(pem: string) {
  const { validToDate: expiresAt, fingerprint } = new X509Certificate(pem)
  const left = expiresAt.getTime() - Date.now()
  const state: 'valid' | 'expiring' | 'expired' =
    left <= 0 ? 'expired' : left < WARNING_DAYS * DAY_MS ? 'expiring' : 'valid'
  // As the pages of Microsoft Entra show it.
  return { expiresAt, state, thumbprint: fingerprint.replaceAll(':', '') }
}

/** Says that a certificate has expired; null while it is valid. */
export function describeExpiry({
  certificate,
}: Pick<ClientCertificate, 'certificate'>): string | null {
  const { state, expiresAt } = shownCertificate(certificate)
  return state === 'expired' ? `The certificate expired on ${isoDay(expiresAt)}.` : null
}
