import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../../errors.ts'
import type { Logger } from '../../../log.ts'
import type { OpeningVerb } from '../../../net/imap/folders/mailbox.ts'
import { createMailboxView, type MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import { ImapLost, isTemporary } from '../../../net/imap/connection/refusals.ts'
import type { Session } from '../../../net/imap/connection/imap-session.ts'
import { isWithoutMailbox } from '../../../net/imap/connection/sign-in-fault.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { signInFresh, type MigrationAccount } from './fresh-sign-in.ts'
import type { RateLimitGate } from './rate-limit-gate.ts'
import { ENGINE_LIMITS, type WaitTimes } from '../../limits.ts'
import { refusalOf } from '../../../mail-credentials/mailbox-sign-in.ts'
import { Reopen, Stop } from '../stop.ts'
import { createConnectionSharing, type ConnectionSharing } from './connection-sharing.ts'
import type { LossBlame } from './with-retries.ts'

/** A source and a destination connection. A broken one is replaced. */
export type ConnectionPair = {
  source(): Promise<Session>
  destination(): Promise<Session>
  /** The source connection as this folder sees it, to read the folder. */
  sourceFolder(name: ByteString): Promise<MailboxView>
  /** The destination connection as this folder sees it, to change the folder. */
  destinationFolder(name: ByteString): Promise<MailboxView>
  /** The folders that share the connections. */
  readonly sharing: ConnectionSharing
  /** Whether a connection of this pair was lost at a folder, by its names at both sides. */
  blameFor(
    lost: ImapLost,
    folder: { source: ByteString; destination: ByteString },
  ): ReturnType<LossBlame>
  /** Signs out. */
  close(): Promise<void>
  /** Closes both connections at once. An incomplete message is not stored. */
  destroy(): void
}

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
  const sourceViews = createViews('EXAMINE', 'source')
  const destinationViews = createViews('SELECT', 'destination')

  return {
    source: () => source.session(),
    destination: () => destination.session(),
    sourceFolder: async (name) => sourceViews((await source.session()).wire, name),
    destinationFolder: async (name) => destinationViews((await destination.session()).wire, name),
    sharing: createConnectionSharing(),
    blameFor({ at }, names) {
      const side = at && [source, destination].find(({ wires }) => wires.has(at.wire))
      if (!side || at.mailbox === null) return 'unknown'
      return at.mailbox === (side === source ? names.source : names.destination)
        ? 'here'
        : 'elsewhere'
    },
    async close() {
      await Promise.all([source.close(), destination.close()])
    },
    destroy() {
      source.destroy()
      destination.destroy()
    },
  }
}

/** Returns one view of each folder on each connection. */
function createViews(
  verb: OpeningVerb,
  side: string,
): (wire: Wire, name: ByteString) => MailboxView {
  const views = new WeakMap<Wire, Map<ByteString, MailboxView>>()
  const changed = () => new Reopen(`The ${side} assigned new UIDs to its messages.`)
  return (wire, name) => {
    const ofWire = views.get(wire) ?? new Map<ByteString, MailboxView>()
    views.set(wire, ofWire)
    const view = ofWire.get(name) ?? createMailboxView(wire, { verb, name, changed })
    ofWire.set(name, view)
    return view
  }
}

type ReconnectingSession = {
  session(): Promise<Session>
  /** All connections so far. */
  readonly wires: WeakSet<object>
  close(): Promise<void>
  destroy(): void
}

function createReconnectingSession(
  side: MigrationAccount,
  deps: ConnectionPairDeps,
): ReconnectingSession {
  let current: Session | undefined
  let connecting: Promise<Session> | undefined

  let failures = 0
  let rejections = 0
  const wires = new WeakSet<object>()

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
        current = side.openSession?.() ?? (await signInFresh(side, signal))
        failures = -Infinity
        rejections = 0
        wires.add(current.wire)
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
   * Throws errors that further attempts would not change, or that could lock the account. Servers at
   * a limit reject passwords that they accepted before (Exchange “authenticated but not connected”).
   */
  function judge(error: unknown): void {
    const refusal = refusalOf(error)
    if (refusal?.kind === 'too_many_connections' || refusal?.kind === 'sign_in')
      if (deps.isOptional()) throw new ConnectionLimitReached()
    if (refusal && isTemporary(refusal)) return deps.gate.close(refusal)
    if (refusal?.kind === 'sign_in') {
      rejections += 1
      const { maxIdleRounds, maxFirstAttempts } = ENGINE_LIMITS
      const most = isWithoutMailbox(refusal) ? maxIdleRounds : maxFirstAttempts
      if (failures === -Infinity && rejections < most) return
      throw new Stop('sign_in', messageOf(error), error)
    }
    failures += 1
    const isAway =
      error instanceof Fault && ['upstream_unreachable', 'upstream_timeout'].includes(error.code)
    // The first connection fails early, so that a wrong host is reported soon.
    if (!(isAway || error instanceof ImapLost) || failures >= ENGINE_LIMITS.maxFirstAttempts)
      throw error
  }

  return {
    wires,
    async session() {
      if (current && !current.wire.lost) return current
      connecting ??= connect().finally(() => (connecting = undefined))
      return connecting
    },
    close: async () => current?.wire.logout(),
    destroy: () => current?.wire.destroy(new ImapLost('ours', 'The migration was stopped.')),
  }
}
