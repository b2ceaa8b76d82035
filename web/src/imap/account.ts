import { account, secret as messages } from './messages.ts'

/** How an administrator’s password opens a mailbox, as in the API. */
export const ADMINISTRATOR_METHODS = ['authzid', 'cyrus', 'master'] as const
type AdministratorMethod = (typeof ADMINISTRATOR_METHODS)[number]

/** A password, or instead an OAuth access token or a sign-in at the provider. */
export type Secret = { password: string } | { accessToken: string } | { credentialId: string }

/** The owner of the mailbox signs in by a link. */
export type LaterSecret = { owner: true }

/** An administrator whose password opens the mailbox of the user. */
export type Administrator = { user: string; method: AdministratorMethod }

/** The server and user of an IMAP account. */
export type ImapServer = {
  host: string
  port: number
  secure: boolean
  user: string
  tlsVerify: boolean
  administrator?: Administrator
}

/** Everything needed to sign in to an IMAP account. */
export type ImapAccount = ImapServer & (Secret | LaterSecret)

/** The ports of IMAP with implicit TLS and with STARTTLS (RFC 8314, 3.2). */
export const PORTS = { tls: 993, starttls: 143 }

/** Reads the fields, with the default port if none was entered. */
export function serverOf(values: Record<string, string>): ImapServer {
  const secure = values['security'] !== 'starttls'
  return {
    host: (values['host'] ?? '').trim(),
    port: Number(values['port'] || (secure ? PORTS.tls : PORTS.starttls)),
    secure,
    user: (values['user'] ?? '').trim(),
    tlsVerify: values['tlsVerify'] === 'on',
    ...administratorOf(values),
  }
}

/** Reads the administrator; none unless a method was chosen. */
function administratorOf(values: Record<string, string>): Pick<ImapServer, 'administrator'> {
  const method = ADMINISTRATOR_METHODS.find((known) => known === values['administrator.method'])
  if (method === undefined) return {}
  return { administrator: { user: (values['administrator.user'] ?? '').trim(), method } }
}

/** Reads the secret; a form has the field of one kind. */
export function secretOf(values: Record<string, string>, prefix = ''): Secret {
  const credentialId = values[`${prefix}credentialId`]
  if (credentialId !== undefined) return { credentialId }
  const accessToken = values[`${prefix}accessToken`]
  if (accessToken === undefined) return { password: values[`${prefix}password`] ?? '' }
  // Copied from a terminal, a token often ends with a line break.
  return { accessToken: accessToken.trim() }
}

/** Reads the secret, unless the owner of the mailbox signs in. */
export function secretOrOwnerOf(values: Record<string, string>, prefix = ''): Secret | LaterSecret {
  return values[`${prefix}owner`] === undefined ? secretOf(values, prefix) : { owner: true }
}

export function accountOf(values: Record<string, string>): ImapAccount {
  return { ...serverOf(values), ...secretOrOwnerOf(values) }
}

/** Validates the fields. Returns errors by field name. */
export function wrongAccount(values: Record<string, string>): Record<string, string> {
  const { host, user, port = '' } = values
  const isPort = port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  return {
    ...(!host?.trim() && { host: account.missingHost }),
    ...(!user?.trim() && { user: account.missingUser }),
    ...wrongSecret(values),
    ...(values['administrator.user']?.trim() === '' && {
      'administrator.user': account.missingAdministrator,
    }),
    ...(!isPort && { port: account.wrongPort }),
  }
}

export function wrongSecret(values: Record<string, string>, prefix = ''): Record<string, string> {
  if (values[`${prefix}owner`] !== undefined) return {}
  const secret = secretOf(values, prefix)
  if ('credentialId' in secret) return {}
  if ('password' in secret)
    return secret.password ? {} : { [`${prefix}password`]: messages.missingPassword }
  return secret.accessToken ? {} : { [`${prefix}accessToken`]: messages.missingToken }
}
