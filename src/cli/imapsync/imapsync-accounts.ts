import { existsSync } from 'node:fs'
import { readCommandSecret, readConfig } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import {
  resolveAccount,
  type AccountSecret,
  type NetDeps,
} from '../../migration/mailbox-accounts.ts'
import type { MigrationAccount } from '../../migration/engine/connections/fresh-sign-in.ts'
import { refusalOf } from '../../mail-credentials/mailbox-sign-in.ts'
import { createResolver } from '../../net/dns.ts'
import { openSocket } from '../../net/guard.ts'
import { ImapLost } from '../../net/imap/connection/refusals.ts'
import { signIn, type Session } from '../../net/imap/connection/imap-session.ts'
import { UsageError } from '../command.ts'
import { askSecret } from '../prompt.ts'
import { readSecretFile } from '../secret-file.ts'
import { ExitError } from './exit-values.ts'
import type { Arguments } from './parse-arguments.ts'

type Side = 1 | 2

const RESOLVE_MS = 15_000
const PROBE_MS = 5_000

const PRESETS = { gmail: 'imap.gmail.com', office: 'outlook.office365.com' }

/**
 * Resolves the account of a side, with its credentials from options, files or the environment.
 * @throws UsageError, ExitError when the host cannot be found
 */
export async function accountOf(args: Arguments, side: Side): Promise<MigrationAccount> {
  const preset = args.switchOf(`gmail${side}`)
    ? PRESETS.gmail
    : args.switchOf(`office${side}`) && PRESETS.office
  const host = args.valueOf(`host${side}`) ?? (preset || undefined)
  const user = args.valueOf(`user${side}`)
  if (host === undefined || user === undefined)
    throw new UsageError(`missing --${host === undefined ? 'host' : 'user'}${side}.`)
  const { secret, freshToken } = await secretOf(args, side, user)
  const administrator = args.valueOf(`authuser${side}`)
  const resolver = createResolver({ servers: readConfig().DNS_SERVERS })
  try {
    // The user of this terminal can connect to private addresses anyway.
    const deps: NetDeps = { resolver, allowPrivate: true }
    const resolved = await resolveAccount(
      {
        host,
        user,
        port: 993,
        secure: true,
        tlsVerify: true,
        ...secret,
        ...(administrator !== undefined && {
          administrator: { user: administrator, method: 'authzid' as const },
        }),
      },
      deps,
      AbortSignal.timeout(RESOLVE_MS),
    )
    const account = {
      ...resolved,
      tlsVerify: isVerified(args, side, resolved.target.addresses),
      ...(await encryptionOf(args, side, resolved, preset !== undefined && preset !== false)),
    }
    return { account, ...(freshToken && { freshToken }) }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new ExitError(`connection${side}`, messageOf(error), error)
  } finally {
    resolver.close()
  }
}

type Secret = { secret: AccountSecret; freshToken?: () => Promise<string> }

async function secretOf(args: Arguments, side: Side, user: string): Promise<Secret> {
  const token = args.valueOf(`oauthaccesstoken${side}`)
  if (token !== undefined) {
    if (!existsSync(token)) return { secret: { accessToken: token } }
    return {
      secret: { accessToken: readSecretFile(token) },
      freshToken: async () => readSecretFile(token),
    }
  }
  const file = args.valueOf(`passfile${side}`)
  const password =
    args.valueOf(`password${side}`) ??
    (file === undefined ? readCommandSecret(`IMAPSYNC_PASSWORD${side}`) : readSecretFile(file)) ??
    (await askSecret(`Password of ${user} (host${side})`))
  if (!password) throw new UsageError(`missing --password${side} or --passfile${side}.`)
  const mechanism = args.valueOf(`authmech${side}`)?.toUpperCase() ?? 'LOGIN'
  if (mechanism === 'XOAUTH2') return { secret: { accessToken: password } }
  if (!['PLAIN', 'LOGIN'].includes(mechanism))
    throw new UsageError(`--authmech${side} must be PLAIN, LOGIN or XOAUTH2.`)
  return { secret: { password } }
}

/** Certificates of a server on this machine rarely name `localhost`. */
function isVerified(args: Arguments, side: Side, addresses: readonly string[]): boolean {
  const mode = args
    .valuesOf(`sslargs${side}`)
    .map((text) => /^SSL_verify_mode=(\w+)$/i.exec(text)?.[1])
    .findLast((value) => value !== undefined)
  if (mode !== undefined) return mode !== '0' && mode.toUpperCase() !== 'SSL_VERIFY_NONE'
  const isLocal = addresses.every((address) => /^(?:127\.|::1$)/.test(address))
  return args.switchOf('sslcheck') ?? !isLocal
}

type Encryption = { port: number; secure: boolean; requireStartTls: boolean }

/** Without options, the port decides, and without a port, whether the server answers on 993. */
async function encryptionOf(
  args: Arguments,
  side: Side,
  { target }: MigrationAccount['account'],
  hasPreset: boolean,
): Promise<Encryption> {
  const [ssl, tls] = [args.switchOf(`ssl${side}`), args.switchOf(`tls${side}`)]
  const port = args.numberOf(`port${side}`)
  const requireStartTls = tls === true
  const isAsked = ssl ?? (requireStartTls ? false : undefined)
  const decided = isAsked ?? (hasPreset || (port === undefined ? undefined : port === 993))
  const secure = decided ?? (await answers(target, 993))
  return { port: port ?? (secure ? 993 : 143), secure, requireStartTls }
}

async function answers(target: MigrationAccount['account']['target'], port: number) {
  try {
    const socket = await openSocket(target, port, AbortSignal.timeout(PROBE_MS))
    socket.destroy()
    return true
  } catch {
    return false
  }
}

/**
 * Signs in to a side.
 * @throws ExitError with the reason
 */
export async function openSide(
  { account }: MigrationAccount,
  side: Side,
  signal: AbortSignal,
): Promise<Session> {
  try {
    return await signIn(account, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof Fault || error instanceof ImapLost)) throw error
    const message = messageOf(error)
    if (refusalOf(error)?.kind === 'sign_in') throw new ExitError(`signIn${side}`, message, error)
    const isTls = /\b(?:TLS|STARTTLS|certificate)\b/i.test(message)
    throw new ExitError(isTls ? 'tls' : `connection${side}`, message, error)
  }
}
