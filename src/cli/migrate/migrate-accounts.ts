import { existsSync, readFileSync } from 'node:fs'
import { readCommandSecret, readConfig } from '../../config.ts'
import { resolveAccount } from '../../migration/accounts.ts'
import { createResolver } from '../../net/dns.ts'
import type {
  Administrator,
  AdministratorMethod,
  SignIn,
} from '../../net/imap/connection/sign-in.ts'
import { UsageError } from '../command.ts'
import { askSecret } from '../prompt.ts'
import type { MigrateFlags } from './flags.ts'

export type Accounts = { source: SignIn; destination: SignIn }

type Side = 'source' | 'destination'

/** The flags of one side. */
export type SideFlags = {
  url: string | undefined
  passwordFile: string | undefined
  admin: string | undefined
  adminMethod: AdministratorMethod
  noVerify: boolean
}

/**
 * The two accounts of a migration with their credentials: from the environment, files, or prompts.
 * @throws UsageError, Fault
 */
export async function accountsOf(values: MigrateFlags): Promise<Accounts> {
  const flagsOf = (side: Side): SideFlags => ({
    url: values[side],
    passwordFile: values[`${side}-password-file`],
    admin: values[`${side}-admin`],
    adminMethod: values[`${side}-admin-method`],
    noVerify: values['no-verify'],
  })
  const [source, destination] = [flagsOf('source'), flagsOf('destination')]
  // Both are checked before the first prompt.
  addressOf(source.url, '--source')
  addressOf(destination.url, '--destination')
  return {
    source: await accountOfSide('source', source),
    destination: await accountOfSide('destination', destination),
  }
}

/**
 * The account of one side.
 * @throws UsageError, Fault
 */
export async function accountOfSide(side: Side, flags: SideFlags): Promise<SignIn> {
  const address = {
    ...addressOf(flags.url, `--${side}`),
    ...administratorOf(flags.admin, flags.adminMethod),
  }
  const name = side === 'source' ? 'SOURCE' : 'DESTINATION'
  const secret = await secretFor(name, address, flags.passwordFile)
  const resolver = createResolver({ servers: readConfig().DNS_SERVERS })
  // The user of this terminal can connect to private addresses anyway.
  const deps = { resolver, allowPrivate: true }
  const account = { ...address, ...secret, tlsVerify: !flags.noVerify }
  try {
    return await resolveAccount(account, deps, AbortSignal.timeout(15_000))
  } finally {
    resolver.close()
  }
}

/** `imaps://alice@example.org@imap.example.org:993`: the host is what follows the last @. */
function addressOf(url: string | undefined, option: string) {
  if (url === undefined) throw new UsageError(`missing ${option} URL.`)
  const match = /^(imaps?):\/\/(.+)@(\[[^\]]+\]|[^@/:]+)(?::(\d{1,5}))?\/?$/i.exec(url)
  if (!match) throw new UsageError(`${option} must be imaps://user@host or imap://user@host.`)
  const [, scheme = '', user = '', host = '', port] = match
  if (/:/.test(user))
    throw new UsageError(
      `${option} must not have a password in it: other users of this machine could see it.`,
    )
  const secure = scheme.toLowerCase() === 'imaps'
  return {
    host,
    user: decodeURIComponent(user),
    secure,
    port: Number(port ?? (secure ? 993 : 143)),
  }
}

/** The administrator of a side, from its flags. */
export function administratorOf(
  user: string | undefined,
  method: AdministratorMethod,
): { administrator?: Administrator } {
  return user === undefined ? {} : { administrator: { user, method } }
}

type Named = { user: string; administrator?: Administrator }

async function secretFor(
  side: 'SOURCE' | 'DESTINATION',
  { user: own, administrator }: Named,
  file: string | undefined,
) {
  const user = administrator?.user ?? own
  const accessToken = administrator ? undefined : readCommandSecret(`PORTREEVE_${side}_TOKEN`)
  if (accessToken !== undefined) return { accessToken }
  const given =
    file === undefined ? readCommandSecret(`PORTREEVE_${side}_PASSWORD`) : firstLineOf(file)
  const password = given ?? (await askSecret(`Password of ${user} (${side.toLowerCase()})`))
  if (!password) throw new UsageError(`Password missing for the ${side.toLowerCase()}.`)
  return { password }
}

function firstLineOf(file: string): string {
  if (!existsSync(file)) throw new UsageError(`File not found: ${file}.`)
  return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? ''
}
