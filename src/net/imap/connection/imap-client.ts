import { ImapFlow, type ImapFlowOptions } from 'imapflow'
import { isCyrusGreeting } from '../quirks.ts'
import type { Administrator, SignIn } from './sign-in.ts'

/** ImapFlow’s method, which its types leave out. It is called once TLS and capabilities are known. */
type Authenticates = { authenticate(): Promise<boolean> }

/** The errors of a sign-in that was not attempted. */
export const NO_SASL_PLAIN = 'No SASL PLAIN'
export const UNCHECKED_CYRUS_USER = 'Unchecked user of Cyrus'

/** ImapFlow with the rules that depend on what a server offers. */
export class ImapClient extends ImapFlow {
  readonly #account: SignIn
  readonly #auth: Credentials
  readonly #isUserChecked: boolean

  /** @param isUserChecked whether the mailbox is known to exist, which Cyrus needs */
  constructor(
    options: Omit<ImapFlowOptions, 'auth'>,
    account: SignIn,
    { isUserChecked }: { isUserChecked: boolean },
  ) {
    const auth = credentialsOf(account)
    super({ ...options, auth })
    this.#account = account
    this.#auth = auth
    this.#isUserChecked = isUserChecked
  }

  async authenticate(): Promise<boolean> {
    const { accessToken, user, administrator } = this.#account
    if (administrator && administrator.method !== 'master') this.#requireAuthzid()
    if (accessToken !== undefined && this.capabilities.has('AUTH=OAUTHBEARER'))
      this.#auth.user = saslName(user)
    return (ImapFlow.prototype as unknown as Authenticates).authenticate.call(this)
  }

  /** Without SASL PLAIN, ImapFlow would drop the user and enter the administrator’s own mailbox. */
  #requireAuthzid(): void {
    if (!this.capabilities.has('AUTH=PLAIN')) throw new Error(NO_SASL_PLAIN)
    if (!this.#isUserChecked && isCyrusGreeting(this.greeting || ''))
      throw new Error(UNCHECKED_CYRUS_USER)
  }
}

type Credentials = NonNullable<ImapFlowOptions['auth']>

function credentialsOf({ user, password, accessToken, administrator }: SignIn): Credentials {
  if (accessToken !== undefined) return { user, accessToken }
  const pass = password ?? ''
  if (!administrator) return { user, pass }
  if (administrator.method === 'master') return { user: masterName(user, administrator), pass }
  return { user: administrator.user, pass, authzid: user, loginMethod: 'AUTH=PLAIN' }
}

function masterName(user: string, { user: master, separator = '*' }: Administrator): string {
  return `${user}${separator}${master}`
}

/** Escapes a user name for the GS2 header of OAUTHBEARER (RFC 5801, 4). */
export function saslName(user: string): string {
  return user.replaceAll('=', '=3D').replaceAll(',', '=2C')
}
