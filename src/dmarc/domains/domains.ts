import { randomBytes, randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_DOMAINS } from '../limits.ts'
import {
  countDomains,
  findDomain,
  insertDomain,
  updateLabels,
  type DomainRow,
} from './dmarc-domains.sql.ts'

/**
 * Registers a domain and creates its report address.
 * @param text as the user typed it
 * @throws Fault `invalid_request`, `conflict`
 */
export async function registerDomain(
  db: Kysely<DB>,
  workspaceId: string,
  text: string,
): Promise<DomainRow> {
  const domain = registrable(text)
  return db.transaction().execute(async (trx) => {
    if ((await countDomains(trx, workspaceId)) >= MAX_DOMAINS)
      throw new Fault('conflict', DOMAINS_LIMIT_MESSAGE)
    const row = await insertDomain(trx, { workspaceId, domain, ...newProof() })
    if (!row) throw new Fault('conflict', alreadyRegistered(domain))
    await notifyChange(trx, workspaceId, 'dmarc', row.id)
    return row
  })
}

export const DOMAINS_LIMIT_MESSAGE = `A workspace can have up to ${MAX_DOMAINS.toLocaleString('en')} domains. Delete one first.`

export const alreadyRegistered = (domain: string) =>
  `${domain} is already registered in your workspace.`

/** The report address of a new domain, and the text that proves its ownership. */
export function newProof(): { mailbox: string; challenge: string } {
  return { mailbox: newMailbox(), challenge: randomBytes(16).toString('hex') }
}

/** @throws Fault `not_found` */
export async function requireDomain(db: Db, workspaceId: string, id: string): Promise<DomainRow> {
  return (await findDomain(db, workspaceId, id)) ?? domainNotFound()
}

/** @throws Fault `not_found` */
export async function changeLabels(
  db: Db,
  workspaceId: string,
  id: string,
  labels: string[],
): Promise<DomainRow> {
  const row = (await updateLabels(db, workspaceId, id, labels)) ?? domainNotFound()
  await notifyChange(db, workspaceId, 'dmarc', id)
  return row
}

function domainNotFound(): never {
  throw new Fault(
    'not_found',
    'Domain not found in your workspace. List your domains for valid IDs.',
  )
}

/**
 * The domain in A-labels.
 * @throws Fault `invalid_request` for an IP address, a single label or a public suffix
 */
export function registrable(text: string): string {
  const host = parseHost(text, 'domain')
  const why = host.kind === 'ip' ? 'is an IP address, not a domain' : whyNotDomain(host.name)
  if (host.kind === 'name' && why === null) return host.name
  const details = [{ path: 'domain', message: why ?? '' }]
  throw new Fault('invalid_request', `“${text.slice(0, 80)}” ${why}.`, { details })
}

function whyNotDomain(name: string): string | null {
  if (!name.includes('.')) return 'has no dot: enter the full domain, such as example.com'
  if (name.startsWith('_')) return 'is a name for DNS records, not a domain'
  return registeredDomain(name) === null ? 'is a public suffix: enter a domain below it' : null
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** 85 random bits in lower case after a letter: some reporters corrupt other local parts. */
function newMailbox(): string {
  return `r${Array.from({ length: 17 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`
}
