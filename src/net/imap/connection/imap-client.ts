import { ImapFlow, type ImapFlowOptions } from 'imapflow'
import { isCyrusGreeting } from '../quirks.ts'
import {
  NO_SASL_PLAIN,
  UNCHECKED_CYRUS_USER,
  type Administrator,
  type SignIn,
} from './imap-sign-in.ts'

/** ImapFlow’s methods that its types leave out. */
type Internals = {
  /** Called once TLS and capabilities are known. */
  authenticate(): Promise<boolean>
  /** Runs a command that ImapFlow knows. */
  run(name: string, ...args: unknown[]): Promise<unknown>
  /** Sends a command. `onPlusTag` of the options answers a continuation request. */
  exec(name: string, attributes: unknown, options?: unknown): Promise<unknown>
}
const internals = ImapFlow.prototype as unknown as Internals

/** ImapFlow with the rules that depend on what a server offers. */
export class ImapClient extends ImapFlow {
  readonly #account: SignIn
  readonly #auth: Credentials
  readonly #isUserChecked: boolean
  #lastCommand = ''

  /**
   * @param isUserChecked whether the mailbox is known to exist, which Cyrus needs
   * @param method how to sign in with a password; undefined for what the server offers
   */
  constructor(
    options: Omit<ImapFlowOptions, 'auth'>,
    account: SignIn,
    { isUserChecked, method }: { isUserChecked: boolean; method: LoginMethod | undefined },
  ) {
    const auth = credentialsOf(account, method)
    super({ ...options, auth })
    this.#account = account
    this.#auth = auth
    this.#isUserChecked = isUserChecked
  }

  /** The other way to sign in, where the last command was a sign-in; null where there is none. */
  otherMethod(): LoginMethod | null {
    if (this.#lastCommand === 'AUTHENTICATE') return 'LOGIN'
    return this.#lastCommand === 'LOGIN' && this.capabilities.has('AUTH=PLAIN')
      ? 'AUTH=PLAIN'
      : null
  }

  async authenticate(): Promise<boolean> {
    const { accessToken, user, administrator } = this.#account
    if (administrator && administrator.method !== 'master') this.#requireAuthzid()
    if (accessToken !== undefined && this.capabilities.has('AUTH=OAUTHBEARER'))
      this.#auth.user = saslName(user)
    return internals.authenticate.call(this)
  }

  /**
   * Leaves out ID, for which ImapFlow would wait before and after the sign-in: the session sends it
   * together with its first command.
   */
  async run(name: string, ...args: unknown[]): Promise<unknown> {
    return name === 'ID' ? false : internals.run.call(this, name, ...args)
  }

  /**
   * Sends the response of SASL PLAIN with its command where the server takes it (RFC 4959), which
   * saves a round trip. A server that requests it nevertheless gets it again.
   */
  exec(name: string, attributes: unknown, options?: unknown): Promise<unknown> {
    this.#lastCommand = name
    if (name === 'LOGIN') return internals.exec.call(this, name, sevenBit(attributes), options)
    const isPlain = name === 'AUTHENTICATE' && mechanismOf(attributes) === 'PLAIN'
    if (!isPlain || !this.capabilities.has('SASL-IR'))
      return internals.exec.call(this, name, attributes, options)
    const { authzid = '', user, pass = '' } = this.#auth
    const response = Buffer.from([authzid, user, pass].join('\0')).toString('base64')
    const withResponse = [...(attributes as Atom[]), { type: 'ATOM', value: response }]
    return internals.exec.call(this, name, withResponse, options)
  }

  /** Without SASL PLAIN, ImapFlow would drop the user and enter the administrator’s own mailbox. */
  #requireAuthzid(): void {
    if (!this.capabilities.has('AUTH=PLAIN')) throw new Error(NO_SASL_PLAIN)
    if (!this.#isUserChecked && isCyrusGreeting(this.greeting || ''))
      throw new Error(UNCHECKED_CYRUS_USER)
  }
}

type Atom = { type: string; value: string }

/** Other characters than ASCII are sent in literals: a quoted string has none (RFC 3501, 4.3). */
function sevenBit(attributes: unknown): unknown {
  return (attributes as Atom[]).map((atom) =>
    /^[ -~]*$/.test(atom.value)
      ? atom
      : { ...atom, type: 'LITERAL', value: Buffer.from(atom.value) },
  )
}

/** The mechanism of an AUTHENTICATE command without an initial response. */
function mechanismOf(attributes: unknown): string | undefined {
  const atoms = attributes as Atom[]
  return atoms.length === 1 ? atoms[0]?.value : undefined
}

type Credentials = NonNullable<ImapFlowOptions['auth']>

/** Ways to sign in with a password. */
export type LoginMethod = 'LOGIN' | 'AUTH=PLAIN'

function credentialsOf(
  { user, password, accessToken, administrator }: SignIn,
  loginMethod: LoginMethod | undefined,
): Credentials {
  if (accessToken !== undefined) return { user, accessToken }
  const pass = password ?? ''
  if (!administrator) return { user, pass, ...(loginMethod && { loginMethod }) }
  if (administrator.method === 'master') return { user: masterName(user, administrator), pass }
  return { user: administrator.user, pass, authzid: user, loginMethod: 'AUTH=PLAIN' }
}

function masterName(user: string, { user: master, separator = '*' }: Administrator): string {
  return `${user}${separator}${master}`
}

/** Escapes a user name for the GS2 header of OAUTHBEARER (RFC 5801, 4). */
function saslName(user: string): string {
  return user.replaceAll('=', '=3D').replaceAll(',', '=2C')
}
