import type { Kysely } from 'kysely'
import type { NewAlert } from '../../alerts/raise.ts'
import { bytesText, QUOTA_BYTES, WARNING_SHARE } from '../../accounts/own-data/account-quotas.ts'
import type { Plan } from '../../config.ts'
import type { DB } from '../../store/tables.ts'
import { listOfSameAccounts } from '../../store/responsible.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { MAX_QUOTA_TRIMMED_ROWS } from '../limits.ts'
import {
  deleteOldest,
  listUsage,
  type CaptureUsage,
  type Deleted,
} from './capture-retention.sql.ts'

/** Bytes of captures that a workspace, or an account over all its workspaces, may store, by plan. */
export type CaptureQuotas = Record<Plan, number>

export const CAPTURE_QUOTAS = Object.fromEntries(
  Object.entries(QUOTA_BYTES).map(([plan, { captures }]) => [plan, captures]),
) as CaptureQuotas

export type QuotaDeps = {
  db: Kysely<DB>
  quotas: CaptureQuotas
  /** Raises an alert, once for each key of a workspace. */
  raise: (alert: NewAlert) => Promise<unknown>
  onRemoved?: ((reason: 'quota', requests: number) => void) | undefined
}

/**
 * Deletes the oldest captures of workspaces that store more than their plan allows, and of accounts
 * whose workspaces do together, and alerts workspaces close to the limit.
 * @param upTo the number up to which each endpoint is trimmed; updated here
 */
export async function trimToQuotas(
  deps: QuotaDeps,
  upTo: Map<string, number>,
  {
    workspaceIds,
    signal,
  }: { workspaceIds?: string[] | undefined; signal?: AbortSignal | undefined } = {},
): Promise<Deleted[]> {
  const { db, quotas, onRemoved } = deps
  const all: Deleted[] = []
  const ids = workspaceIds && (await listOfSameAccounts(db, workspaceIds))
  const usages = await listUsage(db, ids)
  const trim = async (some: CaptureUsage[], limitBytes: number) =>
    all.push(...(await trimTogether(deps, some, { limitBytes, kept: 0, upTo, signal })))
  for (const usage of usages) await trim([usage], quotas[usage.plan])
  for (const some of Map.groupBy(usages, ({ responsibleId }) => responsibleId).values()) {
    const [first] = some
    // What was deleted just now no longer counts.
    const left = some.map((usage) => ({
      ...usage,
      bytes: Math.min(usage.bytes, quotas[usage.plan]),
    }))
    if (first && some.length > 1) await trim(left, quotas[first.accountPlan])
  }
  if (all.length > 0)
    onRemoved?.(
      'quota',
      all.reduce((sum, { deleted }) => sum + deleted, 0),
    )
  return all
}

/** Trims workspaces that share a quota, and alerts those that are close to it or lost captures. */
async function trimTogether(
  { db, raise }: QuotaDeps,
  usages: CaptureUsage[],
  downTo: DownTo,
): Promise<Deleted[]> {
  const { limitBytes } = downTo
  const bytes = usages.reduce((sum, usage) => sum + usage.bytes, 0)
  if (bytes < limitBytes * WARNING_SHARE) return []
  const isOver = bytes > limitBytes
  const ids = usages.filter((usage) => usage.bytes > 0).map(({ workspaceId }) => workspaceId)
  const deleted = isOver ? await deleteDownTo(db, ids, downTo) : []
  const lost = new Set(deleted.map(({ workspaceId }) => workspaceId))
  for (const workspaceId of ids.filter((id) => !isOver || usages.length === 1 || lost.has(id)))
    await raise(
      quotaAlert({ workspaceId, bytes, limitBytes }, usages.length, isOver ? 'full' : 'warning'),
    )
  return deleted
}

type DownTo = {
  limitBytes: number
  kept: number
  upTo: Map<string, number>
  signal?: AbortSignal | undefined
}

/**
 * Deletes the oldest captures of workspaces in small batches until they store no more than the limit
 * together.
 */
export async function deleteDownTo(
  db: Kysely<DB>,
  workspaceIds: string[],
  { limitBytes, kept, upTo, signal }: DownTo,
): Promise<Deleted[]> {
  const all: Deleted[] = []
  for (let some = MAX_QUOTA_TRIMMED_ROWS; some >= MAX_QUOTA_TRIMMED_ROWS;) {
    if (signal?.aborted) break
    const trimmed = Array.from(upTo, ([endpointId, last]) => ({ endpointId, upTo: last }))
    const deleted = await deleteOldest(db, {
      workspaceIds,
      limitBytes,
      kept,
      rows: MAX_QUOTA_TRIMMED_ROWS,
      trimmed,
    })
    for (const { endpointId, upTo: last } of deleted) upTo.set(endpointId, last)
    some = deleted.reduce((sum, one) => sum + one.deleted, 0)
    all.push(...deleted)
  }
  return all
}

/**
 * Builds an alert that is raised once a month for each limit, because a workspace that stays at its
 * quota knows.
 * @param workspaces that share the quota
 */
function quotaAlert(
  {
    workspaceId,
    bytes,
    limitBytes: limit,
  }: Pick<CaptureUsage, 'workspaceId' | 'bytes'> & {
    limitBytes: number
  },
  workspaces: number,
  level: 'warning' | 'full',
): NewAlert {
  const at = new Date()
  const used = `${bytesText(bytes)} of ${bytesText(limit)}`
  const whose =
    workspaces > 1
      ? `The captured requests of all ${workspaces} workspaces of this account`
      : 'Your captured requests'
  const texts = {
    warning: {
      title: 'Storage for captured webhooks is almost full',
      text: `${whose} use ${used}. When the storage is full, the oldest requests are removed first.`,
    },
    full: {
      title: 'The oldest captured webhooks are being removed',
      text: `${whose} reached the limit of ${bytesText(limit)}. The oldest requests are removed first; new requests are still captured.`,
    },
  }
  return {
    workspaceId,
    kind: 'storage.captures',
    key: `storage.captures ${level} ${limit} ${at.toISOString().slice(0, 7)}`,
    incident: null,
    phase: 'once',
    severity: level === 'full' ? 'error' : 'warning',
    ...texts[level],
    nextStep:
      'Export the requests you need, delete endpoints you no longer use, or ask for a larger plan.',
    path: '/hooks',
    at,
  }
}

/** Alerts that this instance remembers as raised. */
const MAX_REMEMBERED_ALERTS = 10_000

/** Raises each alert once, without a database query every second while its cause lasts. */
export function raiseOnce(raise: (alert: NewAlert) => Promise<unknown>): QuotaDeps['raise'] {
  const raised = createRecentEntries<true>(MAX_REMEMBERED_ALERTS)
  return async (alert) => {
    const name = `${alert.workspaceId} ${alert.key}`
    if (raised.has(name)) return
    await raise(alert)
    raised.set(name, true)
  }
}
