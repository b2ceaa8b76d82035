import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBackups } from '../../src/diagnostics/backups/check-backups.ts'
import { reportBackups } from '../../src/diagnostics/backups/watch-backups.ts'
import type { ArchiveStatus } from '../../src/store/archive/archive-status.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount } from '../people.ts'

const now = new Date('2026-11-26T12:00:00Z')
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()
const limits = { BACKUP_RPO_SECONDS: 60, BACKUP_INTERVAL_HOURS: 24 }

const well: ArchiveStatus = {
  archive: '/backups',
  chain: '20261126_110000_aaaaaaaa',
  archivedUntil: ago(1),
  pendingBytes: 0,
  baseAt: ago(60),
  baseBytes: 1_000_000,
  failingSince: null,
  problem: null,
  at: ago(0),
}
const failing = { ...well, failingSince: ago(11), problem: 'No space left', pendingBytes: 32e6 }

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

describe('backups', () => {
  it.each([
    ['good', well, 'reaches until'],
    ['doubtful', null, 'Nothing is archived yet'],
    ['doubtful', { ...well, baseAt: null }, 'not complete yet'],
    ['doubtful', { ...well, at: ago(5) }, 'does not run'],
    ['bad', failing, 'Backups fail: No space left. 32 MB of WAL wait.'],
    ['bad', { ...well, archivedUntil: ago(30) }, 'reaches only until'],
    ['bad', { ...well, baseAt: ago(3 * 24 * 60) }, 'newest base backup'],
  ] as const)('are %s when the state says so', (state, status, sentence) => {
    const finding = checkBackups(status, limits, now)
    expect(finding).toMatchObject({ about: 'backups', state })
    expect(finding.sentence).toContain(sentence)
  })

  it('alert administrators once after ten minutes of failures, and when they work again', async () => {
    const password = 'a long enough password'
    const plan = 'free'
    const ada = await addAccount(fresh.db, {
      email: 'ada@people.test',
      password,
      plan,
      admin: true,
    })
    await addAccount(fresh.db, { email: 'bob@people.test', password, plan })
    const alerts = async () =>
      (
        await fresh.db
          .selectFrom('alert')
          .select(['workspaceId', 'kind', 'phase'])
          .orderBy('at')
          .execute()
      ).filter(({ kind }) => kind.startsWith('backup.'))
    await reportBackups(fresh.db, { ...failing, failingSince: ago(5) }, now)
    await reportBackups(fresh.db, well, now)
    expect(await alerts()).toEqual([])
    await reportBackups(fresh.db, failing, now)
    await reportBackups(fresh.db, failing, new Date(now.getTime() + 60_000))
    await reportBackups(fresh.db, well, new Date(now.getTime() + 120_000))
    await reportBackups(fresh.db, well, new Date(now.getTime() + 180_000))
    expect((await alerts()).map(({ kind, phase }) => [kind, phase])).toEqual([
      ['backup.failing', 'open'],
      ['backup.working', 'resolved'],
    ])
    expect((await alerts())[0]?.workspaceId).toBe(ada.id)
  })
})
