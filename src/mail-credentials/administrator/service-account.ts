import { importPKCS8, SignJWT } from 'jose'
import { invalidField, type Fault } from '../../errors.ts'

/** What is used of the key file of a Google service account. */
export type ServiceAccount = {
  email: string
  /** Its numeric ID, which the administrator allows to open mailboxes. */
  clientId: string
  keyId: string
  privateKey: string
}

const ALGORITHM = 'RS256'

/** Google accepts up to an hour. */
const ASSERTION_LIFETIME = '10m'

/** How the fields are named in the file. */
const FIELDS = {
  email: 'client_email',
  clientId: 'client_id',
  keyId: 'private_key_id',
  privateKey: 'private_key',
} as const

/**
 * Reads the JSON key file of a service account. Where it says to get tokens is ignored: the key is
 * only used with its provider.
 * @throws Fault `invalid_request`
 */
export async function readServiceAccount(text: string): Promise<ServiceAccount> {
  const json = parse(text)
  if (json['type'] !== 'service_account')
    throw invalid('is not the key of a service account: its type must be service_account')
  const account = Object.fromEntries(
    Object.entries(FIELDS).map(([field, name]) => [field, textOf(json, name)]),
  ) as ServiceAccount
  await importKey(account).catch(() => {
    throw invalid('has a private_key that is not an RSA key in PKCS #8')
  })
  return account
}

function parse(text: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  } catch {
    // The text may be a secret, so that the error is not passed on.
  }
  throw invalid('is not JSON. Upload the key file as you downloaded it')
}

function textOf(json: Record<string, unknown>, name: string): string {
  const value = json[name]
  if (typeof value === 'string' && value !== '' && value.length <= 8_000) return value
  throw invalid(`has no ${name}. Upload the key file as you downloaded it`)
}

function invalid(message: string): Fault {
  return invalidField('serviceAccount', message)
}

const importKey = ({ privateKey }: ServiceAccount) => importPKCS8(privateKey, ALGORITHM)

/** Signs the request for a token of a mailbox (RFC 7523, 3). */
export async function signAssertion(
  account: ServiceAccount,
  { user, scope, audience }: { user: string; scope: string; audience: string },
): Promise<string> {
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: account.keyId })
    .setIssuer(account.email)
    .setSubject(user)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(ASSERTION_LIFETIME)
    .sign(await importKey(account))
}
