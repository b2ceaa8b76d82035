import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canReceiveReports } from '../../src/dmarc/domains/report-email.ts'
import { startDmarc, type DmarcTest } from './module.ts'

let service: DmarcTest
beforeAll(async () => {
  service = await startDmarc({ env: { REPORT_DOMAIN: '', BASE_URL: 'http://localhost:8080' } })
})
afterAll(() => service.stop())

describe('a service whose host is no public name', () => {
  it('proposes no record with an address of its own', async () => {
    const { token } = await service.addPerson('Alice')
    const body = { domain: 'example.net' }
    const { data } = (await service.ask('domains', { token, body })).body
    expect(data).toMatchObject({
      reportEmail: null,
      record: 'v=DMARC1; p=none',
      dns: { destination: { required: false, name: null } },
    })
    const verified = await service.ask(`domains/${data.id}/verify`, { token, method: 'POST' })
    expect(verified.body.data.problem).toMatch(
      /^Not verified yet: .*has no TXT record[^,]*Publish it\.$/,
    )
  })
})

describe('a domain that receives reports', () => {
  it('is a public name', () => {
    const domains = ['localhost', '127.0.0.1', '::1', 'a.localhost', 'mail.local', 'a.home.arpa']
    const publicNames = ['reports.example.com', 'xn--bcher-kva.example', 'localhost.example.com']
    expect([...domains, ...publicNames].filter(canReceiveReports)).toEqual(publicNames)
  })
})
