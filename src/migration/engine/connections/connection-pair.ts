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
import { ENGINE_LIMITS, type WaitTimes } from '../../limits.ts'
import { refusalOf, Stop } from '../stop.ts'

/** One side of a migration: an account, and a function that renews an expired access token. */
export type MigrationAccount = { account: SignIn; freshToken?: () => Promise<string> }

/** A source and a destination connection. A broken one is replaced. */
export type ConnectionPair = {
  source(): Promise<Session>
  destination(): Promise<Session>
  /**
   * Opens a folder for reading at the source, and returns the connection and the folder’s state.
   */
  openSource(folder: ByteString): Promise<OpenedSource>
  /** Signs out. */
  close(): Promise<void>
  /** Closes both connections at once. An incomplete message is not stored. */
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
   * Whether other pairs can do its work. Then it does not wait for a server at its connection
   * limit.
   */
  isOptional: () => boolean
  onConnectionLost?: (() => void) | undefined
}

/** The server allows no more connections. The existing ones continue. */
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

/** Runs work one after another. */
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
    if (current) deps.onConnectionLost?.()
    let deadline = performance.now() + waitTimes.unreachableMs
    for (
      let wait = waitTimes.reconnectMs.first;
      ;
      wait = Math.min(wait * 2, waitTimes.reconnectMs.most)
    ) {
      // Delays that the server requested do not count as time that it was unreachable.
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

  /** Throws errors that further attempts would not change, or that could lock the account. */
  function judge(error: unknown): void {
    const refusal = refusalOf(error)
    if (refusal?.kind === 'too_many_connections' && deps.isOptional())
      throw new ConnectionLimitReached()
    if (refusal && isTemporary(refusal)) return deps.gate.close(refusal)
    if (refusal?.kind === 'sign_in') throw new Stop('sign_in', messageOf(error), error)
    failures += 1
    const isAway =
      error instanceof Fault && ['upstream_unreachable', 'upstream_timeout'].includes(error.code)
    // The first connection fails early, so that a wrong host is reported soon.
    if (!(isAway || error instanceof ImapLost) || failures >= ENGINE_LIMITS.maxFirstAttempts)
      throw error
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
