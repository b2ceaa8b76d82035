import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAbuse, type AbuseTest } from './module.ts'

let database: FreshDatabase
let instances: AbuseTest[]

beforeAll(async () => {
  database = await freshDatabase()
  instances = [await startAbuse(database.url), await startAbuse(database.url)]
})
afterAll(async () => {
  for (const portreeve of instances) await portreeve.stop()
  await database.drop()
})

const either = (n: number) => instances[n % 2] as AbuseTest

describe('two instances on one database', () => {
  it('count one address and service once in ten minutes, and every network', async () => {
    const counted = async () => {
      const { rows } = await database.pool.query('select sum(reports)::int as n from abuse_count')
      return (rows[0] as { n: number | null }).n ?? 0
    }
    const before = await counted()
    const reports = Array.from({ length: 60 }, (_, n) =>
      either(n).report(`90.${n >> 1}.1.${n}`, '8.8.4.4'),
    )
    const answers = await Promise.all(reports)
    expect(answers.filter((answer) => answer['deduped'] === false)).toHaveLength(1)
    expect(await either(0).check('8.8.4.4')).toMatchObject({
      totalReports: 1,
      distinctReporters: 30,
    })
    expect(await counted()).toBe(before + 1)
  })

  it('give a source 120 requests together', async () => {
    const send = (n: number) => {
      const body = { ip: `9.1.1.${n}`, service: 'ssh' }
      return either(n).request('report', { from: '91.1.1.1', body })
    }
    const statuses = (await Promise.all(Array.from({ length: 200 }, (_, n) => send(n)))).map(
      ({ status }) => status,
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(120)
    expect(statuses.filter((status) => status === 429)).toHaveLength(80)
    const stored = `select count(*)::int as n from abuse_report where address << '9.1.1.0/24'`
    expect((await database.pool.query(stored)).rows).toEqual([{ n: 120 }])
  })

  it('remember the used rate of a source after a restart', async () => {
    for (let n = 0; n < 120; n++) await either(0).report('92.1.1.1', `9.2.1.${n}`)
    const third = await startAbuse(database.url)
    const answer = await third.request('report', {
      from: '92.1.1.1',
      body: { ip: '9.2.2.2', service: 'ssh' },
    })
    expect(answer.status).toBe(429)
    await third.stop()
  })

  it('lose nothing when both write to the same addresses', async () => {
    const addresses = Array.from({ length: 20 }, (_, n) => `9.3.1.${n}`)
    const reports = Array.from({ length: 600 }, (_, n) =>
      either(n).report(`93.${n % 200}.1.1`, addresses[(n * 7) % 20] ?? ''),
    )
    for (const answer of await Promise.all(reports)) expect(answer['success']).toBe(true)
    const heard = await Promise.all(addresses.map((address) => either(1).check(address)))
    // 600 reports of 200 networks about 20 addresses: each network reports ten of them, thirty
    // times.
    const expected = new Set(Array.from({ length: 600 }, (_, n) => `${n % 200} ${(n * 7) % 20}`))
      .size
    expect(heard.reduce((sum, { distinctReporters }) => sum + Number(distinctReporters), 0)).toBe(
      expected,
    )
    expect(heard.every(({ totalReports }) => totalReports === 1)).toBe(true)
  })
})

describe('an instance that is killed', () => {
  it('has stored every report that it answered', { timeout: 90_000 }, async () => {
    const acknowledged = new Set<string>()
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), database.url], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
      let running = true
      const work = async (worker: number) => {
        for (let n = 0; running; n++) {
          const ip = `${100 + round}.${128 + worker}.${n >> 8}.${n & 255}`
          const answer = await fetch(`${url}/api/v1/abuse/report`, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'x-forwarded-for': `90.${worker}.${n & 255}.1`,
            },
            body: JSON.stringify({ ip, service: 'ssh' }),
          }).catch(() => null)
          if (answer?.status === 200) acknowledged.add(ip)
          else running = false
        }
      }
      const workers = Array.from({ length: 16 }, (_, worker) => work(worker))
      // At a moment that differs from round to round.
      const atLeast = acknowledged.size + 40 + Math.random() * 200
      await expect.poll(() => acknowledged.size, { interval: 5 }).toBeGreaterThan(atLeast)
      child.kill('SIGKILL')
      await Promise.all(workers)
    }
    expect(acknowledged.size).toBeGreaterThan(100)
    const { rows } = await database.pool.query<{ address: string; told: boolean }>(
      'select address, exists (select from abuse_report r where r.address = a.address) as told from abuse_address a',
    )
    const stored = new Set(rows.filter(({ told }) => told).map(({ address }) => address))
    expect([...acknowledged].filter((ip) => !stored.has(ip))).toEqual([])
  })
})
