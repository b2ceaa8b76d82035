/** What opens an account: a password, or an OAuth access token in its place. */
export type Secret = { password: string } | { accessToken: string }

/** Where an IMAP account is, and whose it is. */
export type ImapServer = { host: string; port: number; secure: boolean; user: string; tlsVerify: boolean }

/** What it takes to sign in to an IMAP account. */
export type ImapAccount = ImapServer & Secret

/** Where IMAP is, with TLS from the first byte and with STARTTLS (RFC 8314, 3.2). */
export const PORTS = { tls: 993, starttls: 143 }

/** What was typed, with the usual port where none was. */
export function serverOf(values: Record<string, string>): ImapServer {
  const secure = values['security'] !== 'starttls'
  return {
    host: (values['host'] ?? '').trim(),
    port: Number(values['port'] || (secure ? PORTS.tls : PORTS.starttls)),
    secure,
    user: (values['user'] ?? '').trim(),
    tlsVerify: values['tlsVerify'] === 'on',
  }
}

/** The secret that was typed; a form has the field of the one kind or of the other. */
export function secretOf(values: Record<string, string>, prefix = ''): Secret {
  const accessToken = values[`${prefix}accessToken`]
  if (accessToken === undefined) return { password: values[`${prefix}password`] ?? '' }
  // Copied out of a terminal it often comes with a line break, which no token has.
  return { accessToken: accessToken.trim() }
}

export function accountOf(values: Record<string, string>): ImapAccount {
  return { ...serverOf(values), ...secretOf(values) }
}

/** What is wrong with the fields, by their names. */
export function wrongAccount(values: Record<string, string>): Record<string, string> {
  const { host, user, port = '' } = values
  const isPort = port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  return {
    ...(!host?.trim() && { host: 'Type the name of the server, such as imap.example.com.' }),
    ...(!user?.trim() && { user: 'Type the name you sign in with.' }),
    ...wrongSecret(values),
    ...(!isPort && { port: 'Type a port from 1 to 65535.' }),
  }
}

export function wrongSecret(values: Record<string, string>, prefix = ''): Record<string, string> {
  const secret = secretOf(values, prefix)
  if ('password' in secret) return secret.password ? {} : { [`${prefix}password`]: 'Type the password.' }
  return secret.accessToken ? {} : { [`${prefix}accessToken`]: 'Paste the access token.' }
}
