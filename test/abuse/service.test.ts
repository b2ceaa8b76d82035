import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startTestService, type TestService } from '../service.ts'

/** Enough addresses that writing their files takes longer than a stop may last. */
const MANY = 60_000

let database: FreshDatabase
let portreeve: TestService | null
beforeEach(async () => {
  database = await freshDatabase()
  portreeve = null
})
afterEach(async () => {
  await portreeve?.stop()
  await database.drop()
})

const start = async (env = {}) =>
  (portreeve = await startTestService({ DATABASE_URL: database.url, ...env }))

/** @returns milliseconds */
async function stop(): Promise<number> {
  const began = performance.now()
  await portreeve?.stop()
  portreeve = null
  return performance.now() - began
}

async function report(ip: string, from = '127.0.0.1'): Promise<number> {
  const body = JSON.stringify({ ip, service: 'ssh' })
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': from }
  return (
    await (portreeve as TestService).request('/api/v1/abuse/report', {
      method: 'POST',
      body,
      headers,
    })
  ).status
}

async function check(ip: string): Promise<object> {
  const answer = await (portreeve as TestService).request(`/api/v1/abuse/check?ip=${ip}`)
  return ((await answer.json()) as { data: object }).data
}

const exported = async () =>
  (await (portreeve as TestService).request('/api/v1/abuse/export')).text()

describe('the whole service', () => {
  it(
    'stops at once after a report, and knows it when it starts again',
    { timeout: 60_000 },
    async () => {
      await start()
      expect(await report('8.8.4.4')).toBe(200)
      expect(await stop()).toBeLessThan(2_000)
      await start()
      expect(await check('8.8.4.4')).toMatchObject({ totalReports: 1, listingState: 'observed' })
    },
  )

  it(
    'stops at once while a list is written, and writes it when it starts again',
    { timeout: 120_000 },
    async () => {
      await database.pool.query(`
      insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
        first_reported_at, last_reported_at, due_at, revision)
      select '41.0.0.0'::inet + n, 'listed', 72.7, 'medium', '[]', array['ssh'], 2, 2, now(), now(),
        now() + interval '1 day', 1
      from generate_series(1, ${MANY}) as n`)
      // Simulates an earlier list of this size, because the first large list waits for an
      // administrator.
      await database.pool.query(
        `update abuse_snapshot set count = ${MANY}, created_at = now() - interval '1 hour'`,
      )
      await start()
      const isBeingWritten = async () => {
        const { rows } = await database.pool.query(
          'select from abuse_snapshot where ready_at is null',
        )
        return rows.length === 1
      }
      await expect.poll(isBeingWritten, { timeout: 60_000, interval: 20 }).toBe(true)
      expect(await stop()).toBeLessThan(2_000)
      expect(await isBeingWritten()).toBe(true)
      await start()
      await expect
        .poll(async () => (await exported()).split('\n').length, { timeout: 60_000 })
        .toBe(MANY + 1)
    },
  )
})

describe('a service with a table of autonomous systems', () => {
  function fileOf(text: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-asn-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'table.tsv'), text)
    return join(folder, 'table.tsv')
  }

  it(
    'counts the networks of one system as one witness, and those of two as two',
    { timeout: 60_000 },
    async () => {
      const path = fileOf('90.0.0.0\t91.255.255.255\t64500\n92.0.0.0\t92.255.255.255\t64501\n')
      await start({ ASN_DB_PATH: path, TRUSTED_PROXIES: '127.0.0.1' })
      for (const [ip, from] of Object.entries({ '8.8.4.1': '91.1.1.1', '8.8.4.2': '92.1.1.1' })) {
        await report(ip, '90.1.1.1')
        await report(ip, from)
      }
      expect(await check('8.8.4.1')).toMatchObject({ distinctReporters: 2, confidenceLevel: 'low' })
      expect(await check('8.8.4.2')).toMatchObject({
        distinctReporters: 2,
        confidenceLevel: 'medium',
      })
    },
  )

  it('uses the shipped one by default, and none if configured', { timeout: 90_000 }, async () => {
    type Answer = { data: { networkTable: { source: string; date: string | null } } }
    const tableOf = async (env: Record<string, string>, name: string) => {
      const started = await start({ TRUSTED_PROXIES: '127.0.0.1', ...env })
      const person = {
        email: `${name}@people.test`,
        password: `the password of ${name}`,
        name,
        admin: true,
      }
      const { id } = await createAccount(database.db, { ...person, plan: 'free' })
      const { token } = await issueToken(database.db, { accountId: id, workspaceId: id }, 'tests')
      const response = await started.request('/api/v1/abuse/candidates', { token })
      return ((await response.json()) as Answer).data.networkTable
    }
    // Two /16s, which one provider announces from two of its systems.
    const reportTwice = async (ip: string) => [
      await report(ip, '88.198.1.1'),
      await report(ip, '5.161.1.1'),
    ]
    expect(await tableOf({}, 'Alice')).toEqual({
      source: 'shipped',
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })
    await reportTwice('8.8.4.1')
    expect(await check('8.8.4.1')).toMatchObject({ distinctReporters: 2, confidenceLevel: 'low' })
    await stop()
    expect(await tableOf({ ASN_DB_PATH: 'none' }, 'Zoe')).toEqual({ source: 'none', date: null })
    await reportTwice('8.8.4.2')
    expect(await check('8.8.4.2')).toMatchObject({
      distinctReporters: 2,
      confidenceLevel: 'medium',
    })
  })

  it('does not start with a broken one, and reports the problem', async () => {
    const env = { ASN_DB_PATH: fileOf('<html>Not found</html>') }
    await expect(start(env)).rejects.toThrow(
      /ASN_DB_PATH: .*table\.tsv is not a usable table .*line 1/,
    )
  })
})
