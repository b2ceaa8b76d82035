import { randomBytes, randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { MOST_DOMAINS } from '../limits.ts'
import { countDomains, findDomain, insertDomain, type DomainRow } from './store.ts'

/**
 * Registers a domain with an address of its own.
 * @param text as people write it
 * @throws Fault `invalid_request`, `conflict`
 */
export async function registerDomain(db: Kysely<DB>, accountId: string, text: string): Promise<DomainRow> {
  const domain = registrable(text)
  return db.transaction().execute(async (trx) => {
    if ((await countDomains(trx, accountId)) >= MOST_DOMAINS) {
      throw new Fault('conflict', `An account has at most ${MOST_DOMAINS} domains.`)
    }
    const challenge = randomBytes(16).toString('hex')
    const row = await insertDomain(trx, { accountId, domain, mailbox: newMailbox(), challenge })
    if (!row) throw new Fault('conflict', `${domain} is registered already.`)
    await notifyChange(trx, accountId, 'dmarc', row.id)
    return row
  })
}

/** @throws Fault `not_found` */
export async function requireDomain(db: Db, accountId: string, id: string): Promise<DomainRow> {
  const row = await findDomain(db, accountId, id)
  if (!row) throw new Fault('not_found', 'There is no such domain.')
  return row
}

/** The domain in A-labels. An address, a host without a domain, and what a registry hands out below are none. */
function registrable(text: string): string {
  const host = parseHost(text, 'domain')
  const why = host.kind === 'ip' ? 'is an address, not a domain' : whyNotDomain(host.name)
  if (host.kind === 'name' && why === null) return host.name
  const details = [{ path: 'domain', message: why ?? '' }]
  throw new Fault('invalid_request', `“${text.slice(0, 80)}” ${why}.`, { details })
}

function whyNotDomain(name: string): string | null {
  if (!name.includes('.')) return 'has no dot: give the whole domain'
  if (name.startsWith('_')) return 'is a name for records, not a domain'
  return registeredDomain(name) === null ? 'is a public suffix, below which domains are registered' : null
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** 85 random bits that nobody mistakes for a word, beginning with a letter; some reporters mangle anything else. */
function newMailbox(): string {
  return `r${Array.from({ length: 17 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`
}
