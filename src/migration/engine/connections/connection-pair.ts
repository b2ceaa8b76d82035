import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../../errors.ts'
import type { Logger } from '../../../log.ts'
import { examine, type OpenedMailbox } from '../../../net/imap/folders/mailbox.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import { ImapLost, isTemporary } from '../../../net/imap/connection/refusals.ts'
import { signIn, type Session } from '../../../net/imap/connection/session.ts'
import type { SignIn } from '../../../net/imap/connection/sign-in.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { RateLimitGate } from './rate-limit-gate.ts'
import { LIMITS, type WaitTimes } from '../../limits.ts'
import { refusalOf, Stop } from '../stop.ts'

/** One side of a migration: an account, and where a token that expired is got anew. */
export type MigrationAccount = { account: SignIn; freshToken?: () => Promise<string> }

/** A pair of connections, renewed when one breaks. */
export type ConnectionPair = {
  source(): Promise<Session>
  destination(): Promise<Session>
  /** The source's connection with this folder open for reading, and how it was found. */
  openSource(folder: ByteString): Promise<OpenedSource>
  /** Signs out. */
  close(): Promise<void>
  /** Ends both connections now; half a message on its way is not stored. */
  destroy(): void
}

export type OpenedSource = { wire: Wire; folder: ByteString; opened: OpenedMailbox }

export type ConnectionPairDeps = {
  source: MigrationAccount
  destination: MigrationAccount
  gate: RateLimitGate
  waitTimes: WaitTimes
  signal: AbortSignal
  log: Logger
  /**
   * Whether others can do its work: then a server that allows no more connections is not waited
   * for.
   */
  isOptional: () => boolean
}

/** No more connections are to be had; those that are there must do. */
export class ConnectionLimitReached extends Error {}

export function createConnectionPair(deps: ConnectionPairDeps): ConnectionPair {
  const source = createReconnectingSession(deps.source, deps)
  const destination = createReconnectingSession(deps.destination, deps)
  const turns = createMutex()
  let open: OpenedSource | undefined

  return {
    source: () => source.session(),
    destination: () => destination.session(),
    openSource: (folder) =>
      turns(async () => {
        const { wire } = await source.session()
        if (open?.wire === wire && open.folder === folder) return open
        open = undefined
        return (open = { wire, folder, opened: await examine(wire, folder) })
      }),
    async close() {
      await Promise.all([source.close(), destination.close()])
    },
    destroy() {
      source.destroy()
      destination.destroy()
    },
  }
}

/** One after another. */
function createMutex(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}

type ReconnectingSession = { session(): Promise<Session>; close(): Promise<void>; destroy(): void }

function createReconnectingSession(
  side: MigrationAccount,
  deps: ConnectionPairDeps,
): ReconnectingSession {
  let current: Session | undefined
  let connecting: Promise<Session> | undefined

  let failures = 0

  async function connect(): Promise<Session> {
    const { gate, waitTimes, signal, log } = deps
    let deadline = performance.now() + waitTimes.unreachableMs
    for (
      let wait = waitTimes.reconnectMs.first;
      ;
      wait = Math.min(wait * 2, waitTimes.reconnectMs.most)
    ) {
      // Time that the server itself asked for is not held against it.
      const before = performance.now()
      await gate.pass(signal)
      deadline += performance.now() - before
      try {
        current = await signIn(await withFreshToken(side), signal)
        failures = -Infinity
        return current
      } catch (error) {
        signal.throwIfAborted()
        judge(error)
        if (performance.now() + wait > deadline) throw error
        log.info({ host: side.account.target.host, wait }, `could not connect: ${messageOf(error)}`)
        await sleep(wait, undefined, { signal })
      }
    }
  }

  /**
   * Throws what more attempts would not change, and must not be tried until an account is locked.
   */
  function judge(error: unknown): void {
    const refusal = refusalOf(error)
    if (refusal?.kind === 'too_many_connections' && deps.isOptional())
      throw new ConnectionLimitReached()
    if (refusal && isTemporary(refusal)) return deps.gate.close(refusal)
    if (refusal?.kind === 'sign_in') throw new Stop('sign_in', messageOf(error), error)
    failures += 1
    const isAway =
      error instanceof Fault && ['upstream_unreachable', 'upstream_timeout'].includes(error.code)
    // Somebody waits for the first connection: a host that is not there is soon said so.
    if (!(isAway || error instanceof ImapLost) || failures >= LIMITS.maxFirstAttempts) throw error
  }

  return {
    async session() {
      if (current && !current.wire.lost) return current
      connecting ??= connect().finally(() => (connecting = undefined))
      return connecting
    },
    close: async () => current?.wire.logout(),
    destroy: () => current?.wire.destroy(new ImapLost('ours', 'The migration was stopped.')),
  }
}

async function withFreshToken({ account, freshToken }: MigrationAccount): Promise<SignIn> {
  return freshToken ? { ...account, accessToken: await freshToken() } : account
}
