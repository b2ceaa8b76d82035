import { readCommandSecret, readConfig } from '../../config.ts'
import { resolveAccount } from '../../migration/mailbox-accounts.ts'
import type { MailProvider, ProviderId } from '../../mail-credentials/providers.ts'
import { createResolver } from '../../net/dns.ts'
import type { MigrationAccount } from '../../migration/engine/connections/fresh-sign-in.ts'
import type {
  Administrator,
  AdministratorMethod,
  SignIn,
} from '../../net/imap/connection/imap-sign-in.ts'
import { UsageError } from '../command.ts'
import {
  hasAdministrator,
  openAdministrator,
  type AdministratorFlags,
} from './administrator-sign-in.ts'
import { askSecret } from '../prompt.ts'
import { readSecretFile } from '../secret-file.ts'
import type { MigrateFlags } from './migrate-flags.ts'
import { requireProvider, signInAtProvider } from './provider-sign-in.ts'

export type Accounts = { source: MigrationAccount; destination: MigrationAccount }

type Side = 'source' | 'destination'

/** The flags of one side. */
export type SideFlags = {
  url: string | undefined
  passwordFile: string | undefined
  admin: string | undefined
  adminMethod: AdministratorMethod
  /** The provider at which a person signs in, in place of a password. */
  signIn?: ProviderId | undefined
  noVerify: boolean
} & AdministratorFlags

/**
 * The two accounts of a migration with their credentials: from the environment, files, prompts or
 * sign-ins at providers.
 * @throws UsageError, Fault
 */
export async function accountsOf(values: MigrateFlags): Promise<Accounts> {
  const checked = (side: Side) =>
    checkSide(side, {
      url: values[side],
      passwordFile: values[`${side}-password-file`],
      admin: values[`${side}-admin`],
      adminMethod: values[`${side}-admin-method`],
      signIn: values[`${side}-sign-in`],
      serviceAccount: values[`${side}-service-account`],
      app: values[`${side}-app`],
      appCertificate: values[`${side}-app-certificate`],
      noVerify: values['no-verify'],
    })
  // Both are checked before the first prompt or sign-in, so that none is in vain.
  const [source, destination] = [checked('source'), checked('destination')]
  return { source: await openSide(source), destination: await openSide(destination) }
}

/**
 * The account of one side, with its password.
 * @throws UsageError, Fault
 */
export async function accountOfSide(side: Side, flags: SideFlags): Promise<SignIn> {
  return (await openSide(checkSide(side, flags))).account
}

type CheckedSide = {
  side: Side
  flags: SideFlags
  address: Named & { host: string; port: number; secure: boolean }
  provider: MailProvider | null
}

function checkSide(side: Side, flags: SideFlags): CheckedSide {
  const { url, admin, adminMethod, signIn } = flags
  const address = { ...addressOf(url, `--${side}`), ...administratorOf(admin, adminMethod) }
  const { serviceAccount, app } = flags
  if ([signIn, admin, serviceAccount, app].filter((flag) => flag !== undefined).length > 1)
    throw new UsageError(
      `Use one of --${side}-sign-in, --${side}-admin, --${side}-service-account and --${side}-app.`,
    )
  const provider = signIn === undefined ? null : requireProvider(signIn, address.host)
  return { side, flags, address, provider }
}

async function openSide({
  side,
  flags,
  address,
  provider,
}: CheckedSide): Promise<MigrationAccount> {
  const name = side === 'source' ? 'SOURCE' : 'DESTINATION'
  const isToken = provider !== null || hasAdministrator(flags)
  const secret = isToken ? {} : await secretFor(name, address, flags.passwordFile)
  const resolver = createResolver({ servers: readConfig().DNS_SERVERS })
  try {
    // The user of this terminal can connect to private addresses anyway.
    const deps = { resolver, allowPrivate: true }
    const given = { ...address, ...secret, tlsVerify: !flags.noVerify }
    const account = await resolveAccount(given, deps, AbortSignal.timeout(15_000))
    if (provider !== null)
      return { account, freshToken: await signInAtProvider(provider, address.user, resolver) }
    if (!isToken) return { account }
    const openTokens = await openAdministrator(flags, resolver, appSecretOf(side, flags))
    return { account, freshToken: openTokens(address) }
  } finally {
    // Tokens are refreshed during the migration.
    if (!isToken) resolver.close()
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

/** Reads the secret of an application, from where a password would come. */
export function appSecretOf(
  side: Side,
  { app = '', passwordFile }: Pick<SideFlags, 'app' | 'passwordFile'>,
): () => Promise<string> {
  const name = side === 'source' ? 'SOURCE' : 'DESTINATION'
  return async () => {
    const { password } = await secretFor(name, { user: app, isApp: true }, passwordFile)
    return password ?? ''
  }
}

type Named = { user: string; administrator?: Administrator; isApp?: boolean }

async function secretFor(
  side: 'SOURCE' | 'DESTINATION',
  { user: own, administrator, isApp = false }: Named,
  file: string | undefined,
): Promise<{ password?: string; accessToken?: string }> {
  const user = administrator?.user ?? own
  const takesToken = !administrator && !isApp
  const accessToken = takesToken ? readCommandSecret(`PORTREEVE_${side}_TOKEN`) : undefined
  if (accessToken !== undefined) return { accessToken }
  const given =
    file === undefined ? readCommandSecret(`PORTREEVE_${side}_PASSWORD`) : readSecretFile(file)
  const password = given ?? (await askSecret(`Password of ${user} (${side.toLowerCase()})`))
  if (!password) throw new UsageError(`Password missing for the ${side.toLowerCase()}.`)
  return { password }
}
