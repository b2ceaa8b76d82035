import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { QUOTA_BYTES } from '../../src/accounts/own-data/account-quotas.ts'
import { ingest } from '../../src/dmarc/intake/ingest.ts'
import { aggregate, mailWith } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const LIMIT = QUOTA_BYTES.free.reportFiles

let portreeve: DmarcTest
let alice: Person
let domainId: string
beforeAll(async () => void (portreeve = await startDmarc()))
afterAll(() => portreeve.stop())
beforeEach(async () => {
  alice = await portreeve.addPerson('Alice')
  domainId = (await portreeve.addDomain(alice.token)).id
})

async function used(): Promise<number> {
  const { rows } = await portreeve.pool.query<{ bytes: number }>(
    'select report_bytes::float8 as bytes from workspace_usage where workspace_id = $1',
    [alice.id],
  )
  return rows[0]?.bytes ?? 0
}

async function kept(): Promise<number> {
  const { rows } = await portreeve.pool.query<{ bytes: number }>(
    'select coalesce(sum(octet_length(content)), 0)::float8 as bytes from dmarc_delivery where workspace_id = $1',
    [alice.id],
  )
  return rows[0]?.bytes ?? -1
}

/** Adds bytes to the stored usage. */
const use = (bytes: number) =>
  portreeve.pool.query(
    'update workspace_usage set report_bytes = report_bytes + $1 where workspace_id = $2',
    [bytes, alice.id],
  )

/** A mail to the domain's address, as the SMTP server hands it on. */
const mail = (id: string) =>
  ingest(portreeve.db, { via: 'smtp', workspaceId: alice.id, domainId }, [
    { name: 'mail', bytes: Buffer.from(mailWith({ attachment: aggregate({ id }) })) },
  ])

const titles = async () =>
  (
    await portreeve.db
      .selectFrom('alert')
      .select('title')
      .where('workspaceId', '=', alice.id)
      .orderBy('id')
      .execute()
  ).map(({ title }) => title)

describe('report files', () => {
  it('are counted in bytes until they expire or their workspace is deleted', async () => {
    await portreeve.upload(alice.token, aggregate({ id: 'a' }))
    await mail('b')
    expect(await used()).toBeGreaterThan(1_000)
    expect(await used()).toBe(await kept())
    await portreeve.pool.query(
      "update dmarc_delivery set received_at = now() - interval '31 days' where via = 'smtp'",
    )
    await portreeve.run('dmarc.clean-up')
    expect(await used()).toBe(await kept())
    expect(await used()).toBeGreaterThan(500)
    await portreeve.pool.query('delete from workspace where id = $1', [alice.id])
    expect([await used(), await kept()]).toEqual([0, 0])
  })

  it('are rejected beyond the quota with the limit and the time of the next free space', async () => {
    await portreeve.upload(alice.token, aggregate({ id: 'a' }))
    await use(LIMIT - (await used()))
    const answer = await fetch(`${portreeve.url}/api/v1/dmarc/reports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}` },
      body: aggregate({ id: 'b' }),
    })
    expect(answer.status).toBe(429)
    expect(await answer.json()).toMatchObject({
      code: 'rate_limited',
      error: expect.stringContaining('250 MB'),
    })
    const days = Number(answer.headers.get('retry-after')) / 86_400
    expect(days).toBeGreaterThan(29.9)
    expect(days).toBeLessThanOrEqual(30)
    const { body } = await portreeve.ask(`domains/${domainId}/reports`, alice)
    expect(body.data.pagination.total).toBe(1)
  })

  it('from email beyond the quota are evaluated but not stored, with one alert', async () => {
    await mail('a')
    const before = await used()
    await use(LIMIT - before)
    expect(await mail('b')).toMatchObject({ stored: 1 })
    expect(await mail('c')).toMatchObject({ stored: 1 })
    const { body } = await portreeve.ask(`domains/${domainId}/reports`, alice)
    expect(body.data.reports.map(({ reportId }: { reportId: string }) => reportId)).toEqual([
      'c',
      'b',
      'a',
    ])
    expect(await kept()).toBe(before)
    expect(await titles()).toEqual(['Report files are no longer stored'])
  })

  it('are stored up to the last byte of the quota by concurrent uploads', async () => {
    await mail('a')
    const size = await used()
    await use(LIMIT - size - 3 * size)
    await Promise.all(Array.from({ length: 8 }, (_, index) => mail(`r${index}`)))
    expect(await used()).toBeLessThanOrEqual(LIMIT)
    const { body } = await portreeve.ask(`domains/${domainId}/reports`, alice)
    expect(body.data.pagination.total).toBe(9)
    const { rows } = await portreeve.pool.query(
      'select from dmarc_delivery where workspace_id = $1 and content is not null',
      [alice.id],
    )
    expect(rows.length).toBeLessThanOrEqual(4)
    expect(rows.length).toBeGreaterThanOrEqual(3)
  })

  it('warn at 80%', async () => {
    await mail('a')
    await use(LIMIT * 0.8)
    await mail('b')
    await mail('c')
    expect(await titles()).toEqual(['Storage for report files is almost full'])
  })
})
