import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Window } from '../net/imap/append-window.ts'
import { createAppender, type Appender } from '../net/imap/append.ts'
import type { Metadata } from '../net/imap/fetch-metadata.ts'
import type { Folder } from '../net/imap/folders.ts'
import { examine, searchUids } from '../net/imap/mailbox.ts'
import { ImapRefused } from '../net/imap/refusals.ts'
import type { Wire } from '../net/imap/wire.ts'
import { copyBatch, type Remedy } from './batch.ts'
import { contentFingerprint, messageIdOf } from './fingerprint.ts'
import type { Gate } from './gate.ts'
import type { Journal } from './journal.ts'
import type { Lane } from './lane.ts'
import type { Ledger } from './ledger.ts'
import { LIMITS, type Patience } from './limits.ts'
import { openFolder, type OpenFolder } from './open-folder.ts'
import { isPassing, pause, persist } from './persist.ts'
import type { Destination, Place } from './place.ts'
import { reconcile } from './reconcile.ts'
import { createPace, createRound, type Round } from './round.ts'
import { countThere, settle, type Blame } from './settle.ts'
import { codeOf, FolderStop, Reopen } from './stop.ts'

/** What all folders of a migration share. */
export type Migration = {
  journal: Journal
  gate: Gate
  /** Keywords that the destination has taken. */
  shapes: Set<string>
  /** Bodies in memory, over all migrations of this process. */
  bodies: Window
  patience: Patience
  signal: AbortSignal
  log: Logger
  destination: Destination
  deduplicate: boolean
  withNewMail: boolean
  /** Something of the progress is different. */
  changed: () => void
  note: (note: Note) => void
}

/** What was not kept exactly as it was. */
export type Note = { folder: string; uid?: number; message: string }

/** One folder on its way. */
export type FolderCopy = {
  readonly folder: Folder
  readonly destination: string
  /** `stopped`: by something that concerns the whole migration. */
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped'
  /** Null until it is open. */
  readonly ledger: Ledger | null
  /** Messages that nobody has in hand yet; another lane may help with them. */
  readonly waiting: number
  /** Resolves when it is known how much there is to do. */
  readonly opened: Promise<void>
  /** Copies all of it. Failures of this folder alone are in the journal; throws what concerns the whole migration. */
  run(lane: Lane): Promise<void>
  /** Copies batches of it beside the lane that runs it, as long as there are any. */
  help(lane: Lane): Promise<void>
}

export function createFolderCopy(migration: Migration, folder: Folder, wanted: string): FolderCopy {
  const { journal, gate, patience, signal, log } = migration
  const { promise: opened, resolve: markOpened } = Promise.withResolvers<void>()
  const remedies = new Map<number, Remedy>()
  const blame: Blame = { wires: new WeakSet(), words: new Map(), delays: new Map(), vanished: new Set() }
  const helpers = new Set<Promise<void>>()
  const pace = createPace()
  let state: FolderCopy['state'] = 'waiting'
  let open: OpenFolder | null = null
  let round: Round | null = null

  async function run(lane: Lane): Promise<void> {
    state = 'running'
    migration.changed()
    try {
      for (let tries = 1; ; tries++) {
        try {
          await copyWhole(lane)
          break
        } catch (error) {
          if (!(error instanceof Reopen) || tries === LIMITS.reopens) throw error
          log.info({ folder: folder.path }, error.message)
        }
      }
      state = 'done'
    } catch (error) {
      state = 'stopped'
      if (!(error instanceof FolderStop || error instanceof ImapRefused)) throw error
      state = 'failed'
      await journal.report(folderFailure(folder.path, error))
    } finally {
      markOpened()
      migration.changed()
    }
  }

  async function copyWhole(lane: Lane): Promise<void> {
    open = await persist(migration, () => openFolder(lane, folder, wanted, migration))
    if (open.place.path !== wanted) migration.note({ folder: folder.path, message: `It became “${open.place.path}”.` })
    markOpened()
    migration.changed()
    do await copyRounds(lane, open)
    while (!(await persist(migration, () => verify(lane, open as OpenFolder))))
    await open.ledger.finish()
  }

  async function copyRounds(lane: Lane, at: OpenFolder): Promise<void> {
    const { ledger, place } = at
    for (let idle = 0; idle < LIMITS.idleRounds;) {
      await persist(migration, async () => {
        const { wire } = await lane.destination()
        await reconcile(ledger, () => reading(lane, at), wire, place.name, { settle: patience.settle, signal })
      })
      giveUpPoison(ledger)
      const left = ledger.openWith(at.uids)
      if (left.length === 0) return
      const known = ledger.suspicions
      await copyRound(lane, at, left)
      signal.throwIfAborted()
      if (ledger.left < left.length || ledger.suspicions > known) idle = 0
      else if (gate.closedUntil === null) {
        idle += 1
        await pause(idle, patience, signal)
      }
    }
    throw new FolderStop('stuck', `Nothing more of “${folder.path}” could be copied in ${LIMITS.idleRounds} attempts.`)
  }

  /** Messages in whose company connections broke go last, a batch at a time, when nothing else can suffer. */
  async function copyRound(lane: Lane, at: OpenFolder, left: number[]): Promise<void> {
    const { ledger } = at
    const trusted = left.filter((uid) => ledger.suspicionOf(uid) === 0)
    const shared = left.filter((uid) => ledger.suspicionOf(uid) < LIMITS.breaks.alone)
    const uids = [trusted, shared].find((some) => some.length > 0) ?? left
    const company = uids === trusted ? Infinity : uids === shared ? LIMITS.suspiciousBatch : 1
    const current = createRound({ uids, pace, company, isThere: (row) => isThere(at, row) })
    const { wire } = await lane.destination()
    // A server that does not tell the UIDs of copies can only be asked about one batch at a time.
    const isSingle = uids !== trusted || !wire.capabilities.has('UIDPLUS')
    round = isSingle ? null : current
    try {
      await work(lane, at, current, isSingle ? 1 : LIMITS.batchesAhead)
    } finally {
      round = null
      await Promise.all(helpers)
    }
  }

  function isThere(at: OpenFolder, row: Metadata): boolean {
    const id = at.tally && messageIdOf(row.messageIds)
    if (!at.tally || id === null || !at.tally.take(id)) return false
    countThere(at, row)
    migration.changed()
    return true
  }

  async function work(lane: Lane, at: OpenFolder, current: Round, workers: number): Promise<void> {
    const appenders = new WeakMap<Wire, Appender>()
    let last: Promise<void> = Promise.resolve()

    async function keepCopying(): Promise<void> {
      for (;;) {
        await gate.pass(signal)
        const rows = await current.take(() => reading(lane, at))
        if (rows.length === 0) return
        const before = last
        const { promise: mine, resolve: sent } = Promise.withResolvers<void>()
        last = mine
        try {
          await copy(lane, at, rows, { before, sent, appenders })
        } finally {
          sent()
        }
      }
    }

    // A connection that broke ends this worker's round; the next one begins with what is left.
    const untilBroken = () =>
      keepCopying().catch((error: unknown) => {
        signal.throwIfAborted()
        if (!isPassing(error, gate)) throw error
      })
    await allSettled(Array.from({ length: workers }, untilBroken))
  }

  type Turn = { before: Promise<void>; sent: () => void; appenders: WeakMap<Wire, Appender> }

  async function copy(lane: Lane, at: OpenFolder, rows: Metadata[], { before, sent, appenders }: Turn): Promise<void> {
    const { ledger, place, tally } = at
    const weight = rows.reduce((sum, { size }) => sum + Math.min(size ?? LIMITS.unknownBody, LIMITS.streamedBody), 0)
    await migration.bodies.take(weight)
    try {
      const [source, { wire: destination }] = await Promise.all([reading(lane, at), lane.destination()])
      const appender = appenderFor(appenders, destination, place)
      const intending = ledger.intend(rows.map(({ uid }) => uid))
      intending.catch(() => undefined)
      const began = performance.now()
      const fates = await copyBatch(rows, {
        source,
        appender,
        intended: intending,
        before,
        sent,
        isThere: tally && ((head) => tally.take(contentFingerprint(head))),
        remedyOf: (uid) => remedies.get(uid) ?? 'as-is',
      })
      pace.took(performance.now() - began)
      settle(fates, {
        migration,
        folder: folder.path,
        at,
        intent: await intending,
        remedies,
        blame,
        source,
        destination,
        appender,
      })
    } finally {
      migration.bodies.give(weight)
    }
  }

  function appenderFor(
    appenders: WeakMap<Wire, Appender>,
    wire: Wire,
    { name, opened: { permanentFlags } }: Place,
  ): Appender {
    const known = appenders.get(wire)
    if (known) return known
    const appender = createAppender(wire, name, {
      permanentFlags,
      synchronising: blame.isMistrusted,
      shapes: migration.shapes,
    })
    appenders.set(wire, appender)
    return appender
  }

  async function reading(lane: Lane, { sourceUidValidity }: OpenFolder): Promise<Wire> {
    const { wire, opened: now } = await lane.reading(folder.pathAsListed)
    if (now.uidValidity !== sourceUidValidity) throw new Reopen('The source numbered its messages anew.')
    return wire
  }

  function giveUpPoison(ledger: Ledger): void {
    const suspects = ledger.saved.suspicions.filter(
      ([uid, times]) => times >= LIMITS.breaks.most && !ledger.isDone(uid),
    )
    for (const [uid, attempts] of suspects) {
      const { messageId = null, size = null, text = '' } = blame.words.get(uid) ?? {}
      const message = `The connection broke each time this message was on its way. ${text}`.trim()
      ledger.failed({ folder: folder.path, uid, messageId, size, code: 'connection_lost', message, attempts })
    }
  }

  /** True when everything is accounted for; false when there is more to do. */
  async function verify(lane: Lane, at: OpenFolder): Promise<boolean> {
    const { ledger, place } = at
    const source = await reading(lane, at)
    if (at.uids.length > 0) {
      const now = await searchUids(source, `UID 1:${ledger.saved.sourceUidNext - 1}`)
      refuteVanished(ledger, now)
      if (now.some((uid) => uid < ledger.saved.sourceUidNext && !ledger.isDone(uid))) return false
    }
    const { wire } = await lane.destination()
    const { exists, uidValidity } = await examine(wire, place.name)
    if (uidValidity !== place.opened.uidValidity) throw new Reopen('The destination numbered its messages anew.')
    const { copied } = ledger.saved
    if (exists >= copied) return true
    throw new FolderStop('verification', `“${place.path}” has ${exists} messages, though ${copied} were copied there.`)
  }

  /** What the source did not give, as if it were gone, and still lists. */
  function refuteVanished(ledger: Ledger, uids: number[]): void {
    const message = 'The source lists this message but does not give it.'
    for (const uid of uids.filter((one) => blame.vanished.has(one))) {
      blame.vanished.delete(uid)
      ledger.failed({
        folder: folder.path,
        uid,
        messageId: null,
        size: null,
        code: 'unfetchable',
        message,
        attempts: 2,
      })
    }
  }

  return {
    folder,
    opened,
    get destination() {
      return open?.place.path ?? wanted
    },
    get state() {
      return state
    },
    get ledger() {
      return open?.ledger ?? null
    },
    get waiting() {
      return round?.waiting ?? 0
    },
    run,
    async help(lane) {
      if (!round || !open) return
      const helping = work(lane, open, round, LIMITS.batchesAhead)
      const quiet = helping.catch(() => undefined)
      helpers.add(quiet)
      await helping.finally(() => helpers.delete(quiet))
    },
  }
}

/** Waits for all, then throws what the first of those that failed threw. */
async function allSettled(running: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(running)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

function folderFailure(folder: string, error: Error) {
  return { folder, uid: null, messageId: null, size: null, code: codeOf(error), message: messageOf(error), attempts: 1 }
}
