import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { freePort } from '../free-port.ts'
import { swaks } from '../servers/swaks.ts'
import { figure } from './figures.ts'
import { makeEndpoints, startPlace, type Place } from './place.ts'

const AWAY = 60_000

describe('a database that is away for a minute', () => {
  it('gets 503 with Retry-After and a temporary error for mail, and everything recovers by itself', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-away-'))
    const log = createLog('silent')
    let database = await startEmbedded({ dataDir: folder, log })
    const smtpPort = await freePort()
    const place = await startPlace({
      DATABASE_URL: database.url,
      SECRET_KEY: 'the key of a service without its database',
      SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
      REPORT_DOMAIN: 'reports.portreeve.test',
    })
    try {
      const [token = ''] = await makeEndpoints(place, 1)
      const domain = await place.api('/api/v1/dmarc/domains', 'POST', { domain: 'example.test' })
      const { reportEmail } = ((await domain.json()) as { data: { reportEmail: string } }).data
      await database.stop()
      const until = Date.now() + AWAY
      let slowest = 0
      let refused = 0
      const paths = [`/webhooks/${token}`, '/api/v1/abuse/report', '/readyz', '/api/v1/tokens']
      for (let n = 0; Date.now() < until; n++) {
        const path = paths[n % paths.length] ?? ''
        const begun = performance.now()
        const answer = await ask(place, path)
        slowest = Math.max(slowest, performance.now() - begun)
        refused += 1
        expect([path, answer.status]).toEqual([path, 503])
        expect([path, Number(answer.headers.get('retry-after')) > 0]).toEqual([path, true])
        await answer.arrayBuffer()
        await sleep(200)
      }
      const mailed = await swaks(smtpPort, reportEmail, 'Subject: a report\n\nnone\n')
      expect(mailed.transcript).toMatch(/<\*\* 4\d\d/)
      expect((await fetch(`${place.url}/healthz`)).status).toBe(200)

      database = await startEmbedded({ dataDir: folder, log })
      const back = performance.now()
      while ((await fetch(`${place.url}/readyz`)).status !== 200) await sleep(20)
      const recovered = Math.round(performance.now() - back)
      expect(
        (await fetch(`${place.url}/webhooks/${token}`, { method: 'POST', body: 'x' })).status,
      ).toBe(200)
      expect((await place.api('/api/v1/tokens')).status).toBe(200)
      // A job, which needs the queue and notifications.
      const host = await place.api('/api/v1/monitoring/hosts', 'POST', { host: '8.8.4.4' })
      expect(host.status).toBe(201)
      await expect.poll(() => jobsRun(place), { timeout: 90_000, interval: 1_000 }).toBe(true)
      figure(
        `the database is away for ${AWAY / 1000} s`,
        `${refused} requests answered 503, the slowest after ${Math.round(slowest)} ms; ready ${recovered} ms after the database`,
      )
      expect(slowest).toBeLessThan(12_000)
      expect(recovered).toBeLessThan(10_000)
    } finally {
      await place.stop()
      await database.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

function ask(place: Place, path: string): Promise<Response> {
  if (path.startsWith('/webhooks/')) return fetch(place.url + path, { method: 'POST', body: 'x' })
  return path.endsWith('/report')
    ? place.api(path, 'POST', { ip: '8.8.4.4', service: 'ssh' })
    : place.api(path)
}

/** Whether a host that was added since has been checked. */
async function jobsRun(place: Place): Promise<boolean> {
  const text = await (await place.api('/api/v1/monitoring/hosts')).text()
  return /"lastCheckAt":"/.test(text)
}
