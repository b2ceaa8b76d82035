import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { createMirror } from '../../store/mirror.ts'
import { notify, type Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { ROOT } from '../../version.ts'
import { createPrefixTable, type PrefixTable } from './prefix-table.ts'
import { readNetwork } from '../../protocols/networks/read-network.ts'
import {
  deleteRange,
  insertRange,
  listCidrs,
  markRange,
  unmarkRange,
  type RangeKind,
  type RangeRow,
} from './ranges.sql.ts'

/** The address ranges that administrators configured, in memory and the same in every instance. */
export type Ranges = {
  is(kind: RangeKind, address: string): boolean
  /** Whether an address may never be on the list. */
  isExempt(address: string): boolean
  /** Whether the address is a large resolver or similar, which only an administrator may list. */
  isWellKnown(address: string): boolean
  /** The networks of both, none of which may be in a list. */
  listProtected(): string[]
  /** Resolves when the changes that were committed until now apply in this instance. */
  reload(): Promise<void>
  close(): void
}

const CHANNEL = 'abuse.ranges'

/** The shipped networks: large resolvers, root servers and the edges of content networks. */
const WELL_KNOWN_NETWORKS = readWellKnown()
const WELL_KNOWN = createPrefixTable(WELL_KNOWN_NETWORKS)

function readWellKnown(): string[] {
  type File = { groups: { networks: string[] }[] }
  const { groups }: File = JSON.parse(
    readFileSync(join(ROOT, 'data', 'well-known-networks.json'), 'utf8'),
  )
  return groups.flatMap(({ networks }) => networks)
}

/** Loads the ranges, and reloads them when an instance has changed them. */
export async function openRanges(
  db: Kysely<DB>,
  notifications: Notifications,
  log: Logger,
): Promise<Ranges> {
  let tables = tablesOf([])
  const { reload, close } = await createMirror({ notifications, log }, CHANNEL, async () => {
    tables = tablesOf(await listCidrs(db))
  })
  const is = (kind: RangeKind, address: string) => tables.byKind[kind].has(address)
  return {
    is,
    isWellKnown: (address) => WELL_KNOWN.has(address),
    isExempt: (address) => is('whitelist', address) || is('canary', address),
    listProtected: () => [...tables.exempt, ...WELL_KNOWN_NETWORKS],
    reload,
    close,
  }
}

type Tables = { byKind: Record<RangeKind, PrefixTable>; exempt: string[] }

function tablesOf(rows: Awaited<ReturnType<typeof listCidrs>>): Tables {
  const tableOf = (kind: RangeKind) =>
    createPrefixTable(rows.filter((r) => r.kind === kind).map((r) => r.cidr))
  const byKind = {
    whitelist: tableOf('whitelist'),
    canary: tableOf('canary'),
    shared: tableOf('shared'),
    sensor: tableOf('sensor'),
  }
  const isExempt = ({ kind }: { kind: RangeKind }) => kind === 'whitelist' || kind === 'canary'
  return { byKind, exempt: rows.filter(isExempt).map(({ cidr }) => cidr) }
}

/**
 * Adds a range, in every instance; addresses in it change their state at once.
 * @throws Fault `invalid_request`, `conflict` when it is there already
 */
export async function addRange(
  db: Kysely<DB>,
  { kind, cidr, label }: { kind: RangeKind; cidr: string; label: string },
): Promise<RangeRow> {
  const network = readNetwork(cidr)
  return db.transaction().execute(async (trx) => {
    const row = await insertRange(trx, { kind, cidr: network, label })
    if (!row) throw new Fault('conflict', `${network} is already on the list.`)
    await markRange(trx, row)
    await notify(trx, CHANNEL, null)
    return row
  })
}

/** @throws Fault `not_found` */
export async function removeRange(db: Kysely<DB>, id: string, kinds: RangeKind[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await deleteRange(trx, id, kinds)
    if (!row) throw new Fault('not_found', 'The range was not found.')
    await unmarkRange(trx, row)
    await notify(trx, CHANNEL, null)
  })
}
