import { randomBytes } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_OPEN_TESTS, TEST_LIFETIME_MS } from '../limits.ts'
import { insertTest, lockOpenTests, type TestRow } from './mail-tests.sql.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const TOKEN_CHARACTERS = 16

/** 80 random bits in the letters of base32. */
function newTestToken(): string {
  return Array.from(randomBytes(TOKEN_CHARACTERS), (byte) => LETTERS[byte % 32]).join('')
}

/**
 * Creates a test, within the limit of the account that answers for the workspace.
 * @throws Fault `conflict` when it has too many open ones
 */
export async function createTest(
  db: Kysely<DB>,
  { workspaceId, domain }: Pick<TestRow, 'workspaceId' | 'domain'>,
): Promise<TestRow> {
  return db.transaction().execute(async (trx) => {
    await requireRoom(trx, workspaceId)
    const expiresAt = new Date(Date.now() + TEST_LIFETIME_MS)
    const test = await insertTest(trx, { workspaceId, domain, token: newTestToken(), expiresAt })
    await notifyChange(trx, workspaceId, 'checks', test.id)
    return test
  })
}

async function requireRoom(trx: Transaction<DB>, workspaceId: string): Promise<void> {
  const { open, firstExpiry } = await lockOpenTests(trx, workspaceId)
  if (open < MAX_OPEN_TESTS) return
  throw new Fault(
    'conflict',
    `An account can have up to ${MAX_OPEN_TESTS} open mail tests. Delete one, or wait until ${firstExpiry?.toISOString()}.`,
  )
}
