import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { findResponsible } from '../../store/responsible.ts'
import type { DB } from '../../store/tables.ts'
import type { DomainRow } from '../domains/dmarc-domains.sql.ts'
import { GUARANTEED_LIMIT, INTAKE_LIMITS, type IntakeLimits } from '../limits.ts'
import { addUsage, countMail, findUsage, INSTALLATION, type DayUsage } from './report-usage.sql.ts'

/** Scopes of the daily limits, from the narrowest to the widest. */
type Scope = keyof IntakeLimits
const SCOPES: Scope[] = ['address', 'account', 'installation']
const NAMES = {
  address: 'This address',
  account: 'The account of this address',
  installation: 'This server',
}

/** The ids of the scopes of a report address: of its domain, and of the account that answers for it. */
export async function scopesOf(
  db: Db,
  { id, workspaceId }: Pick<DomainRow, 'id' | 'workspaceId'>,
): Promise<string[]> {
  return [id, await findResponsible(db, workspaceId), INSTALLATION]
}

/**
 * Counts an email for an address before it is processed.
 * @throws Fault `rate_limited` if the address, its account or the installation has reached its
 *   daily limit; then only the refusal is counted
 */
export async function admitMail(
  db: Kysely<DB>,
  domain: DomainRow,
  bytes: number,
  limits: IntakeLimits = INTAKE_LIMITS,
): Promise<void> {
  try {
    await db.transaction().execute(async (trx) => {
      refuseOver(await countMail(trx, await scopesOf(trx, domain), bytes), limits)
    })
  } catch (error) {
    if (error instanceof Fault) await addUsage(db, [domain.id], { overLimit: 1 })
    throw error
  }
}

/**
 * Rejects an address that is over its daily limits before its email is transferred.
 * @throws Fault `rate_limited`
 */
export async function requireCapacity(
  db: Kysely<DB>,
  domain: DomainRow,
  limits: IntakeLimits = INTAKE_LIMITS,
) {
  const usages = await findUsage(db, await scopesOf(db, domain))
  try {
    refuseOver(
      usages.map((usage) => ({ ...usage, mails: usage.mails + 1 })),
      limits,
    )
  } catch (error) {
    await addUsage(db, [domain.id], { overLimit: 1 })
    throw error
  }
}

function refuseOver(usages: DayUsage[], limits: IntakeLimits): void {
  const [own] = usages
  SCOPES.forEach((scope, index) => {
    // Every address has a guaranteed minimum, regardless of the mail for others.
    if (scope !== 'address' && own && isWithin(own, GUARANTEED_LIMIT)) return
    const usage = usages[index]
    if (!usage || isWithin(usage, limits[scope])) return
    throw new Fault(
      'rate_limited',
      `${NAMES[scope]} has reached its daily limit for mail; try again after 00:00 UTC`,
    )
  })
}

function isWithin(usage: DayUsage, limit: DayUsage): boolean {
  return (Object.keys(limit) as (keyof DayUsage)[]).every((unit) => usage[unit] <= limit[unit])
}
