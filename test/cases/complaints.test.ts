import { afterAll } from 'vitest'
import type { ComplaintSummary } from '../../src/deliverability/complaints/shapes.ts'
import { freePort } from '../free-port.ts'
import { startDns } from '../servers/dns.ts'
import { swaks } from '../servers/swaks.ts'
import { startTestService } from '../service.ts'
import { runCases } from './run-cases.ts'

/** A mail to the address of complaints, in lines. */
type Input = { mail: string[] }

const dns = await startDns({ records: {} })
const port = await freePort()
const service = await startTestService({
  SMTP_LISTEN: `127.0.0.1:${port}`,
  REPORT_DOMAIN: 'reports.test',
  DNS_SERVERS: `127.0.0.1:${dns.port}`,
})
afterAll(async () => {
  await service.stop()
  await dns.close()
})

runCases('complaints.json', async ({ mail }: Input) => {
  const { token } = await service.addPerson('Case')
  const ask = async <T>(path: string, method = 'GET') => {
    const response = await service.request(`/api/v1/complaints${path}`, { method, token })
    return ((await response.json()) as { data: T }).data
  }
  const { address } = await ask<{ address: string }>('/address', 'POST')
  const sent = await swaks(port, address, mail.join('\r\n'))
  if (sent.code !== 0) throw new Error(sent.transcript)
  const { providers, sources, domains, campaigns, ...summary } = await ask<ComplaintSummary>('')
  return {
    complaints: providers.reduce((sum, one) => sum + one.complaints + one.unverified, 0),
    provider: providers[0]?.provider,
    source: sources[0]?.source,
    recipients: sources[0]?.recipients,
    domain: domains[0]?.domain,
    campaign: campaigns[0]?.campaign,
    other: summary.address?.otherMails,
  }
})
