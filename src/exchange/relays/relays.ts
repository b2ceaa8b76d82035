import type { Kysely } from 'kysely'
import { Fault, invalidField } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import { decrypt, encrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { notify } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import { relayServiceOf, relayServices } from './services/relay-services.ts'
import type { RelayCredentials, RelayServiceId } from './services/relay-service.ts'
import {
  countReports,
  deleteRelay,
  findRelay,
  listRelays,
  saveRelay,
  type RelayRow,
} from './relays.sql.ts'

/** The notification that other workspaces relay their reports now. */
export const RELAYS_CHANGED = 'abuse.relays'

const contextOf = (id: string) => `relay/${id}`

export const RELAY_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'relay', id: 'id', column: 'sealed', contextOf },
]

export type RelayChange = {
  account?: string | undefined
  /** Omitted to keep the known one. */
  key?: string | undefined
  enabled?: boolean | undefined
}

/**
 * Saves the settings of a service.
 * @throws Fault `invalid_request`
 */
export async function changeRelay(
  { db, secretKey }: { db: Kysely<DB>; secretKey: string },
  { workspaceId, service }: { workspaceId: string; service: RelayServiceId },
  change: RelayChange,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const known = await findRelay(trx, workspaceId, service)
    const id = known?.id ?? newUuid()
    const account = requireAccount(service, change.account ?? known?.account ?? '')
    const key = change.key === undefined ? undefined : requireKey(service, change.key)
    if (!known && key === undefined) throw invalidField('key', 'is required')
    const secret = key === undefined ? known : sealKey(key, secretKey, id)
    if (!secret) return
    const { sealed, lastFour } = secret
    const enabled = change.enabled ?? known?.enabled ?? true
    await saveRelay(trx, { id, workspaceId, service, account, sealed, lastFour, enabled })
    await notify(trx, RELAYS_CHANGED, null)
    await notifyChange(trx, workspaceId, 'attacks')
  })
}

/** @throws Fault `not_found` */
export async function removeRelay(
  db: Kysely<DB>,
  workspaceId: string,
  service: RelayServiceId,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await deleteRelay(trx, workspaceId, service))) throw notFound(service)
    await notify(trx, RELAYS_CHANGED, null)
    await notifyChange(trx, workspaceId, 'attacks')
  })
}

/** @throws Fault `not_found` */
export async function requireRelay(
  db: Kysely<DB>,
  workspaceId: string,
  service: RelayServiceId,
): Promise<RelayRow> {
  const relay = await findRelay(db, workspaceId, service)
  if (!relay) throw notFound(service)
  return relay
}

/** @throws Fault `internal` when it was encrypted with another key */
export function credentialsOf({ id, account, sealed }: RelayRow, secretKey: string) {
  return { account, key: decrypt(sealed, secretKey, contextOf(id)) } satisfies RelayCredentials
}

/** Describes all services, with the settings of a workspace and what became of its reports. */
export async function describeRelays(db: Kysely<DB>, workspaceId: string) {
  const rows = await listRelays(db, workspaceId)
  const counts = await countReports(db, workspaceId)
  return relayServices.map((service) => {
    const { id, name, homepage, accountLabel, keyLabel, perDay, addressSeconds } = service
    const row = rows.find((one) => one.service === id)
    const counted = counts.find(({ relayId }) => relayId === row?.id)
    return {
      service: id,
      name,
      homepage,
      accountLabel,
      keyLabel,
      perDay,
      addressSeconds,
      settings: row ? { enabled: row.enabled, account: row.account, lastFour: row.lastFour } : null,
      problem: row?.problem ?? null,
      pausedUntil: row?.pausedUntil ?? null,
      dropped: row?.dropped ?? 0,
      waiting: counted?.waiting ?? 0,
      sent24h: counted?.sent24h ?? 0,
      rejected24h: counted?.rejected24h ?? 0,
      lastSentAt: counted?.lastSentAt ?? null,
    }
  })
}

function sealKey(key: string, secretKey: string, id: string) {
  return { sealed: encrypt(key, secretKey, contextOf(id)), lastFour: key.slice(-4) }
}

function requireAccount(service: RelayServiceId, account: string): string {
  const { accountPattern, accountLabel } = relayServiceOf(service)
  if (!accountPattern) return ''
  if (!accountPattern.test(account)) throw invalidField('account', `is not valid: ${accountLabel}`)
  return account
}

function requireKey(service: RelayServiceId, key: string): string {
  const { keyPattern, keyLabel } = relayServiceOf(service)
  if (!keyPattern.test(key)) throw invalidField('key', `is not valid: ${keyLabel}`)
  return key
}

function notFound(service: RelayServiceId): Fault {
  return new Fault('not_found', `Reports are not relayed to ${relayServiceOf(service).name}.`)
}
