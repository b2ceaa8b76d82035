import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CertificateDetail } from '../../src/monitoring/certificates/check-certificates.ts'
import { evaluateCertificates } from '../../src/monitoring/certificates/evaluate-certificates.ts'
import { renewalDueBefore, withRenewal } from '../../src/monitoring/certificates/renewal.ts'
import { reportCertificateChanges } from '../../src/monitoring/certificates/report-certificate-changes.ts'
import { claimHost } from '../../src/monitoring/checks/host-checks.sql.ts'
import { saveFact } from '../../src/monitoring/facts/host-facts.sql.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startLists } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startMonitoring, type MonitoringTest } from './module.ts'

const DAY = 86_400_000
const NOW = new Date()

function certificate(life: number, left: number, more: Partial<CertificateDetail> = {}) {
  const validTo = new Date(NOW.getTime() + left * DAY)
  const validFrom = new Date(validTo.getTime() - life * DAY)
  return {
    validFrom: validFrom.toISOString(),
    validTo: validTo.toISOString(),
    issuer: 'Test CA',
    names: ['www.shop.test'],
    fingerprint256: `${life}/${left}`,
    trustError: null,
    ...more,
  }
}

describe('the renewal of a certificate', () => {
  it.each([
    [90, undefined, 27],
    [47, undefined, 12.67],
    [6, undefined, 1.5],
    [397, undefined, null],
    [397, 30, 27],
    [90, 25, 22],
  ])('of %d days, last renewed with %s left, is due %s days before the end', (life, last, due) => {
    const detail = certificate(life, 50, {
      ...(last !== undefined && { renewedWithLeftMs: last * DAY }),
    })
    const before = renewalDueBefore(detail)
    expect(before && Math.round((before / DAY) * 100) / 100).toBe(due)
  })

  it('is not due because an issuer of the certificate expires', () => {
    const detail = certificate(90, 5, { endsWith: 'R3' })
    expect(renewalDueBefore(detail)).toBeNull()
    expect(withRenewal(detail, certificate(90, 89), NOW).renewedWithLeftMs).toBeUndefined()
  })

  it('is remembered where it was a regular one', () => {
    const left = (before: CertificateDetail) =>
      withRenewal(before, certificate(397, 390), NOW).renewedWithLeftMs
    expect(left(certificate(397, 30))).toBe(30 * DAY)
    expect(left(certificate(397, 200))).toBeUndefined()
    expect(left(certificate(397, -1, { renewedWithLeftMs: DAY }))).toBe(DAY)
  })
})

describe('a monitored certificate', () => {
  let portreeve: MonitoringTest
  let lists: Rbldnsd
  let database: FreshDatabase
  beforeAll(async () => {
    ;[lists, database] = await Promise.all([startLists({}), freshDatabase()])
    portreeve = await startMonitoring(database.url, { lists, works: false })
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([lists.stop(), database.drop()])
  })

  it('raises one alert when its renewal was due, which the renewal resolves', async () => {
    const { id } = await portreeve.add('8.8.8.8')

    async function observe(detail: CertificateDetail): Promise<void> {
      await portreeve.db.updateTable('monitoredHost').set({ claimedUntil: null }).execute()
      const host = await claimHost(portreeve.db, id, 60)
      if (!host) throw new Error('The host was not claimed.')
      const seen = new Map([[443, { state: 'valid', detail }]])
      const updates = evaluateCertificates({ ...host, tlsPorts: [443] }, seen, NOW, 0)
      await portreeve.db.transaction().execute(async (trx) => {
        for (const fact of updates.save) await saveFact(trx, fact)
        await reportCertificateChanges(trx, host, updates, NOW)
      })
    }

    await observe(certificate(90, 28))
    await observe(certificate(90, 28))
    expect(await portreeve.alertTitles()).toEqual([])
    for (let n = 0; n < 2; n++) await observe(certificate(90, 26))
    const title = 'The certificate of 8.8.8.8, port 443 wasn’t renewed'
    expect(await portreeve.alertTitles()).toEqual([title])
    for (let n = 0; n < 2; n++) await observe(certificate(90, 89))
    expect(await portreeve.alertTitles()).toEqual([
      title,
      'Resolved: the certificate of 8.8.8.8, port 443 was renewed',
    ])
    const { json } = await portreeve.callAs<{ incidents: object[] }>(
      portreeve.owner().token,
      'GET',
      'alerts/incidents',
    )
    expect(json.data.incidents).toMatchObject([
      { key: 'certificate/8.8.8.8/443', state: 'resolved', kind: 'certificate.renewal-due' },
    ])
  })
})
