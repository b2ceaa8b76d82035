import { afterAll, beforeAll, expect, it } from 'vitest'
import { composeDigestEmail } from '../../src/digest/delivery/digest-email.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDigests, type DigestTest } from './module.ts'

let database: FreshDatabase
let portreeve: DigestTest
beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startDigests(database.url)
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

async function addEndpoint(
  workspaceId: string,
  token: string,
  label: string,
  since: string | null,
) {
  const { rows } = await database.pool.query<{ id: string }>(
    'insert into webhook_endpoint (workspace_id, token, label) values ($1, $2, $3) returning id',
    [workspaceId, token, label],
  )
  await database.pool.query(
    'insert into webhook_alert (endpoint_id, silent_after_minutes, silent_since) values ($1, 60, $2)',
    [rows[0]?.id, since],
  )
}

it('shows the endpoints of its workspace that receive no requests among what needs attention', async () => {
  const [alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
  await addEndpoint(alice.id, 'aaaaaaaaaa', 'nightly backup', '2026-11-20T10:00:00Z')
  await addEndpoint(alice.id, 'bbbbbbbbbb', 'shop orders', null)
  await addEndpoint(bob.id, 'cccccccccc', 'of Bob', '2026-11-21T10:00:00Z')
  const period = { from: new Date('2026-11-16T08:00:00Z'), to: new Date('2026-11-23T08:00:00Z') }
  const settings = { frequency: 'weekly', weekday: 1, hour: 8, timeZone: 'UTC' } as const
  const member = { workspaceId: alice.id, accountId: alice.id, workspace: 'Alice' }
  const request = { ...member, settings, period, nextAt: null }
  const { subject, text } = await composeDigestEmail(portreeve.deps, request, alice.email, null)
  expect(subject).toBe('Weekly digest of Alice: no open problems')
  expect(text).toContain('1 object needs attention.')
  expect(text).toContain(
    '- nightly backup receives no requests\n  The last one arrived on 20 Nov 2026.',
  )
  expect(text).not.toMatch(/shop orders|of Bob/)
})
