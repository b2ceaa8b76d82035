/** What it takes to sign in to an IMAP account. */
export type ImapAccount = {
  host: string
  port: number
  secure: boolean
  user: string
  password: string
  tlsVerify: boolean
}

/** Where IMAP is, with TLS from the first byte and with STARTTLS (RFC 8314, 3.2). */
export const PORTS = { tls: 993, starttls: 143 }

/** What was typed, with the usual port where none was. */
export function accountOf(values: Record<string, string>): ImapAccount {
  const secure = values['security'] !== 'starttls'
  return {
    host: (values['host'] ?? '').trim(),
    port: Number(values['port'] || (secure ? PORTS.tls : PORTS.starttls)),
    secure,
    user: (values['user'] ?? '').trim(),
    password: values['password'] ?? '',
    tlsVerify: values['tlsVerify'] === 'on',
  }
}

/** What is wrong with the fields, by their names. */
export function wrongAccount(values: Record<string, string>): Record<string, string> {
  const { host, user, password, port = '' } = values
  const isPort = port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  return {
    ...(!host?.trim() && { host: 'Type the name of the server, such as imap.example.com.' }),
    ...(!user?.trim() && { user: 'Type the name you sign in with.' }),
    ...(!password && { password: 'Type the password.' }),
    ...(!isPort && { port: 'Type a port from 1 to 65535.' }),
  }
}
