import { existsSync, readFileSync } from 'node:fs'
import { readCommandSecret, readConfig } from '../../config.ts'
import { resolveAccount } from '../../migration/accounts.ts'
import type { MailProvider } from '../../mail-credentials/providers.ts'
import { createResolver, type Resolver } from '../../net/dns.ts'
import type { MigrationAccount } from '../../migration/engine/connections/fresh-sign-in.ts'
import type { Administrator, AdministratorMethod } from '../../net/imap/connection/sign-in.ts'
import { UsageError } from '../command.ts'
import { askSecret } from '../prompt.ts'
import type { MigrateFlags } from './flags.ts'
import { requireProvider, signInAtProvider } from './provider-sign-in.ts'

export type Accounts = { source: MigrationAccount; destination: MigrationAccount }

/**
 * The two accounts of a migration with their credentials: from the environment, files, or prompts.
 * @throws UsageError, Fault
 */
export async function accountsOf(values: MigrateFlags): Promise<Accounts> {
  const source = {
    ...addressOf(values.source, '--source'),
    ...administratorOf(values['source-admin'], values['source-admin-method']),
  }
  const destination = {
    ...addressOf(values.destination, '--destination'),
    ...administratorOf(values['destination-admin'], values['destination-admin-method']),
  }
  const resolver = createResolver({ servers: readConfig().DNS_SERVERS })
  // Before the first sign-in, so that none is in vain.
  const [from, to] = [
    providerOf('source', source, values),
    providerOf('destination', destination, values),
  ]
  // One after the other: each may prompt.
  return {
    source: await openSide('SOURCE', source, from, { values, resolver }),
    destination: await openSide('DESTINATION', destination, to, { values, resolver }),
  }
}

type Address = Named & { host: string; port: number; secure: boolean }

/** The provider of a side that is signed in to without a password. */
function providerOf(
  side: 'source' | 'destination',
  { administrator, host }: Address,
  values: MigrateFlags,
): MailProvider | null {
  const id = values[`${side}-sign-in`]
  if (id === undefined) return null
  if (administrator) throw new UsageError(`Use --${side}-sign-in or --${side}-admin, not both.`)
  return requireProvider(id, host)
}

async function openSide(
  side: 'SOURCE' | 'DESTINATION',
  address: Address,
  provider: MailProvider | null,
  { values, resolver }: { values: MigrateFlags; resolver: Resolver },
): Promise<MigrationAccount> {
  const file = values[`${side.toLowerCase() as Lowercase<typeof side>}-password-file`]
  const secret = provider === null ? await secretFor(side, address, file) : {}
  // The user of this terminal can connect to private addresses anyway.
  const deps = { resolver, allowPrivate: true }
  const [tlsVerify, signal] = [!values['no-verify'], AbortSignal.timeout(15_000)]
  const account = await resolveAccount({ ...address, ...secret, tlsVerify }, deps, signal)
  if (provider === null) return { account }
  return { account, freshToken: await signInAtProvider(provider, address.user, resolver) }
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
